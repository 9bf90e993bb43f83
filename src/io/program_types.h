#pragma once

#include "wavegate/base/result.h"
#include "wavegate/io/json.h"
#include "wavegate/kir/interface.h"
#include "wavegate/kir/type.h"
#include "wavegate/program/value.h"

/// The words of a program file for types and the like. The error lists those that there are, and names the nearest.
namespace wavegate::io {

Result<kir::Type> element_type(const JsonView& view);
Result<program::ScalarType> scalar_type(const JsonView& view);
Result<kir::Access> access(const JsonView& view);
Result<kir::BindingKind> binding_kind(const JsonView& view);

}  // namespace wavegate::io
