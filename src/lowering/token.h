#pragma once

#include <utility>

#include "wavegate/program/expression.h"

namespace wavegate::lowering {

/// Whether control is at a place: known, or held by a latch.
struct Token {
  enum class Kind : uint8_t { never, always, latched };
  Kind kind = Kind::always;
  program::Scalar word = {};  ///< of a latch

  static Token always() { return {Kind::always, {}}; }
  static Token never() { return {Kind::never, {}}; }
  static Token latched(program::Scalar word) { return {Kind::latched, word}; }
  bool is_always() const { return kind == Kind::always; }
  bool is_never() const { return kind == Kind::never; }
  friend bool operator==(Token, Token) = default;

  program::ScalarExpr expression() const {
    return kind == Kind::latched ? program::ScalarExpr(word) : program::ScalarExpr(is_always() ? 1u : 0u);
  }
  /// One or zero, whatever the condition holds for true: latches are counted.
  program::ScalarExpr and_(program::ScalarExpr condition) const {
    return is_always() ? program::not_equal(std::move(condition), 0u) : expression() && std::move(condition);
  }
  /// `then` where control is here, else `otherwise`.
  program::ScalarExpr select(program::ScalarExpr then, program::ScalarExpr otherwise) const {
    return is_always() ? then : program::select(expression(), std::move(then), std::move(otherwise));
  }
};

}  // namespace wavegate::lowering
