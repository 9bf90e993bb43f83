#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// A kernel that is made of others, with what its bindings and parameters stand for. Buffers and words that several
/// parts name are bound once.
class Composition {
 public:
  /// Of a dispatch of one of our kernels.
  static Result<Composition> of(const graph::Dispatch& dispatch, const KernelTable& kernels);

  /// The work of the whole grid, done by one workgroup of `width` invocations.
  Result<void> spread(const graph::Grid& grid, uint32_t width);
  /// This, then the other, with a barrier between. Both are one workgroup of one size.
  Result<void> then(const Composition& next);
  /// `test` runs first; while it then leaves another word than zero in the range, a word of the arena: this, `test`.
  Result<void> repeat_while(const Composition& test, const graph::Range& word);
  /// Only if the word of the arena is not zero when control reaches it.
  Result<void> only_if(const graph::Range& word);

  /// Words that it writes live in workgroup memory while it runs, where the device has room for them.
  Result<void> keep_scalars_near(const target::Profile& profile);

  uint32_t width() const { return kernel_.interface.workgroup_size[0]; }
  bool fits(const target::Profile& profile) const;
  /// One workgroup.
  Result<graph::Dispatch> dispatch(std::string label, KernelTable& kernels) const;

 private:
  /// What a binding stands for: a range, or a word of the arena.
  struct Operand {
    graph::Range range;
    bool is_word = false;
    /// Whether they share memory. The arena is bound apart from its words.
    bool meets(const Operand& other) const {
      const auto [buffer, offset, bytes] = other.range;
      return is_word == other.is_word && range.buffer == buffer &&
             (range.bytes == 0 || bytes == 0 || (range.offset < offset + bytes && offset < range.offset + range.bytes));
    }
    friend bool operator==(const Operand& a, const Operand& b) {
      return a.is_word == b.is_word && a.range.buffer == b.range.buffer && a.range.offset == b.range.offset &&
             a.range.bytes == b.range.bytes;
    }
  };
  Result<void> merge();
  void append(const Composition& other);

  kir::Kernel kernel_;
  std::vector<Operand> operands_;     ///< one a binding of the kernel
  std::vector<uint32_t> parameters_;  ///< launch words of the parameters
  std::vector<graph::Use> uses_;
  std::optional<graph::Range> arena_;
};

}  // namespace wavegate::lowering
