#include "wavegate/graph/print.h"

#include <iterator>
#include <map>

#include "wavegate/base/format.h"

namespace wavegate::graph {
namespace {

using RepeatPointer = std::shared_ptr<const Repeat>;
using ConditionalPointer = std::shared_ptr<const Conditional>;
using LoopPointer = std::shared_ptr<const Loop>;

const Buffer& buffer_of(const Graph& graph, const Range& range) {
  return graph.buffers[static_cast<uint32_t>(range.buffer)];
}

const kir::Interface& interface_of(const Graph& graph, const Dispatch& dispatch) {
  return graph::interface_of(graph.kernels[static_cast<uint32_t>(dispatch.kernel)]);
}

bool is_whole(const Graph& graph, const Range& range) {
  return range.offset == 0 && range.bytes == buffer_of(graph, range).bytes;
}

/// A name alone for a whole buffer, else with the bytes.
std::string text(const Graph& graph, const Range& range) {
  const std::string& name = buffer_of(graph, range).name;
  if (is_whole(graph, range)) return name;
  return format("{}[{}, {})", name, range.offset, range.offset + range.bytes);
}

std::string text(const Grid& grid) {
  return format("{}x{}x{}", grid[0], grid[1], grid[2]);
}

std::string plural(uint64_t count, const char* noun) {
  return format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// ", at most 7 times", or nothing.
std::string bound_text(const Loop& loop) {
  return loop.maximum ? format(", at most {}", plural(*loop.maximum, "time")) : "";
}

/// The bindings by the names of the interface, where they have one each.
std::string bindings_text(const Graph& graph, const Dispatch& dispatch) {
  const Kernel& kernel = graph.kernels[static_cast<uint32_t>(dispatch.kernel)];
  const bool is_opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernel);
  std::string out;
  size_t next = 0;
  const auto add = [&](const std::string& name, std::string_view access) {
    out += format("{}{}={} {}", next == 0 ? "" : ", ", name, text(graph, dispatch.bindings[next]), access);
    ++next;
  };
  for (const kir::BindingInfo& binding : graph::interface_of(kernel).bindings)
    if (is_opaque || binding.kind == kir::BindingKind::buffer) add(binding.name, kir::to_string(binding.access));
  if (next < dispatch.bindings.size()) add("arena", "scalars");
  return out;
}

class TextPrinter {
 public:
  explicit TextPrinter(const Graph& graph) : graph_(graph) {}

  std::string run() {
    append("graph \"{}\": {}, {}, {} once repeats are spelled out\n", graph_.name,
           plural(graph_.buffers.size(), "buffer"), plural(graph_.kernels.size(), "kernel"),
           plural(encoded_size(graph_.commands), "command"));
    for (const Buffer& buffer : graph_.buffers) print_buffer(buffer);
    for (const Kernel& kernel : graph_.kernels) print_kernel(kernel);
    print_commands(graph_.commands, 1);
    return std::move(out_);
  }

 private:
  template <typename... Arguments>
  void append(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), pattern, std::forward<Arguments>(arguments)...);
  }

  void print_buffer(const Buffer& buffer) {
    append("  buffer \"{}\" {} bytes", buffer.name, buffer.bytes);
    if (buffer.external) append(", external");
    if (buffer.indirect) append(", indirect");
    if (buffer.output) append(", output");
    if (buffer.observed) append(", observed");
    if (buffer.initial && buffer.initial->bytes) append(", initial contents");
    if (buffer.initial && !buffer.initial->bytes) append(", filled with {:#x}", buffer.initial->word);
    append("\n");
  }

  void print_kernel(const Kernel& kernel) {
    const kir::Interface& interface = graph::interface_of(kernel);
    const bool is_opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernel);
    append("  kernel \"{}\" workgroup {}, {}, {}{}\n", interface.name, text(interface.workgroup_size),
           plural(binding_count(kernel), "binding"), plural(word_count(kernel), "launch word"),
           is_opaque ? ", opaque" : "");
  }

  void print_commands(const std::vector<Command>& commands, size_t depth) {
    for (const Command& command : commands) {
      out_.append(2 * depth, ' ');
      std::visit([&](const auto& c) { print_command(c, depth); }, command);
    }
  }

  void print_command(const Dispatch& dispatch, size_t) {
    append("dispatch \"{}\" kernel \"{}\" ", dispatch.label, interface_of(graph_, dispatch).name);
    if (dispatch.indirect) {
      append("grid from {}, at most {}", text(graph_, *dispatch.indirect), text(dispatch.grid));
    } else {
      append("grid {}", text(dispatch.grid));
    }
    append(" ({})", bindings_text(graph_, dispatch));
    if (!dispatch.words.empty()) append(" words {:#x}", fmt::join(dispatch.words, " "));
    append("\n");
  }

  void print_command(const Copy& copy, size_t) {
    append("copy \"{}\" {} -> {}\n", copy.label, text(graph_, copy.source), text(graph_, copy.destination));
  }

  void print_command(const Fill& fill, size_t) {
    append("fill \"{}\" {} with {:#x}\n", fill.label, text(graph_, fill.destination), fill.word);
  }

  void print_command(const RepeatPointer& repeat, size_t depth) {
    append("repeat \"{}\" {} times", repeat->label, repeat->count);
    print_body(repeat->body, depth);
  }

  void print_command(const ConditionalPointer& conditional, size_t depth) {
    append("conditional \"{}\" if {}", conditional->label, text(graph_, conditional->predicate));
    print_body(conditional->body, depth);
  }

  void print_command(const LoopPointer& loop, size_t depth) {
    append("loop \"{}\" until {}{}, chunks of {} to {}", loop->label, text(graph_, loop->done), bound_text(*loop),
           loop->first_chunk, loop->largest_chunk);
    print_body(loop->body, depth);
  }

  void print_body(const std::vector<Command>& body, size_t depth) {
    append(" {{\n");
    print_commands(body, depth + 1);
    out_.append(2 * depth, ' ');
    append("}}\n");
  }

  const Graph& graph_;
  std::string out_;
};

/// Text inside the quotes of a Graphviz string.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

class DotPrinter {
 public:
  explicit DotPrinter(const Graph& graph) : graph_(graph) {}

  std::string run() {
    append("digraph \"{}\" {{\n  node [fontname=\"sans-serif\"];\n", escaped(graph_.name));
    for (size_t i = 0; i < graph_.buffers.size(); ++i)
      append("  buffer{} [shape=cylinder, label=\"{}\\n{} bytes\"];\n", i, escaped(graph_.buffers[i].name),
             graph_.buffers[i].bytes);
    print_commands(graph_.commands, 1);
    out_ += edges_;
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <typename... Arguments>
  void append(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), pattern, std::forward<Arguments>(arguments)...);
  }

  void print_commands(const std::vector<Command>& commands, size_t depth) {
    for (const Command& command : commands) std::visit([&](const auto& c) { print_command(c, depth); }, command);
  }

  void print_command(const RepeatPointer& repeat, size_t depth) {
    begin_cluster(depth, format("{} x {}", repeat->label, repeat->count));
    print_commands(repeat->body, depth + 1);
    end_cluster(depth);
  }

  void print_command(const ConditionalPointer& conditional, size_t depth) {
    begin_cluster(depth, conditional->label);
    print_decision(depth + 1, "if", conditional->predicate);
    print_commands(conditional->body, depth + 1);
    end_cluster(depth);
  }

  void print_command(const LoopPointer& loop, size_t depth) {
    begin_cluster(depth, loop->label + bound_text(*loop));
    print_commands(loop->body, depth + 1);
    print_decision(depth + 1, "until", loop->done);
    end_cluster(depth);
  }

  void begin_cluster(size_t depth, const std::string& label) {
    const std::string indent(2 * depth, ' ');
    append("{}subgraph cluster{} {{\n{}  label=\"{}\";\n", indent, clusters_++, indent, escaped(label));
  }

  void end_cluster(size_t depth) { append("{}}}\n", std::string(2 * depth, ' ')); }

  /// What decides whether a body runs, or runs again.
  void print_decision(size_t depth, const std::string& word, const Range& range) {
    print_node(depth, "diamond", word);
    print_access(static_cast<uint32_t>(range.buffer), kir::Access::read, " [style=dotted]");
  }

  void print_command(const Dispatch& dispatch, size_t depth) {
    print_node(depth, "box",
               format("{}\n{}{}", dispatch.label, dispatch.indirect ? "at most " : "", text(dispatch.grid)));
    std::map<uint32_t, kir::Access> accesses;  // one edge a buffer, however many ranges of it are used
    for (const Use& use : dispatch.uses) {
      const auto [entry, is_new] = accesses.try_emplace(static_cast<uint32_t>(use.range.buffer), use.access);
      if (!is_new && entry->second != use.access) entry->second = kir::Access::read_write;
    }
    for (const auto& [buffer, access] : accesses) print_access(buffer, access, "");
    if (dispatch.indirect) {
      print_access(static_cast<uint32_t>(dispatch.indirect->buffer), kir::Access::read, " [style=dotted]");
    }
  }

  void print_command(const Copy& copy, size_t depth) {
    print_node(depth, "ellipse", format("copy {}", copy.label));
    print_access(static_cast<uint32_t>(copy.source.buffer), kir::Access::read, "");
    print_access(static_cast<uint32_t>(copy.destination.buffer), kir::Access::write, "");
  }

  void print_command(const Fill& fill, size_t depth) {
    print_node(depth, "ellipse", format("fill {}", fill.label));
    print_access(static_cast<uint32_t>(fill.destination.buffer), kir::Access::write, "");
  }

  /// A command and the edge from the command before it.
  void print_node(size_t depth, const char* shape, const std::string& label) {
    append("{}command{} [shape={}, label=\"{}\"];\n", std::string(2 * depth, ' '), commands_, shape, escaped(label));
    if (commands_ != 0) edges_ += format("  command{} -> command{} [style=bold];\n", commands_ - 1, commands_);
    ++commands_;
  }

  void print_access(uint32_t buffer, kir::Access access, const char* style) {
    if (kir::reads(access)) edges_ += format("  buffer{} -> command{}{};\n", buffer, commands_ - 1, style);
    if (kir::writes(access)) edges_ += format("  command{} -> buffer{}{};\n", commands_ - 1, buffer, style);
  }

  const Graph& graph_;
  std::string out_;
  std::string edges_;
  size_t commands_ = 0;
  size_t clusters_ = 0;
};

}  // namespace

std::string print(const Graph& graph) {
  return TextPrinter(graph).run();
}

std::string print_dot(const Graph& graph) {
  return DotPrinter(graph).run();
}

}  // namespace wavegate::graph
