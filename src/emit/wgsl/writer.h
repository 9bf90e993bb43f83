#pragma once

#include <string>
#include <string_view>

namespace wavegate::emit::wgsl {

/// Lines of text, indented by the blocks that they stand in.
class Writer {
 public:
  explicit Writer(size_t depth = 0) : depth_(depth) {}

  void line(std::string_view text) {
    text_.append(2 * depth_, ' ');
    text_ += text;
    text_ += '\n';
  }
  /// `head {`
  void open(std::string_view head) {
    line(std::string(head) + " {");
    ++depth_;
  }
  /// `} head {`
  void reopen(std::string_view head) {
    --depth_;
    open("} " + std::string(head));
  }
  void close() {
    --depth_;
    line("}");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  size_t depth_;
};

}  // namespace wavegate::emit::wgsl
