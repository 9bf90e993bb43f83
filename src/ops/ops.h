#pragma once

#include "wavegate/program/operation.h"
#include "wavegate/program/program.h"

/// The operation library. Each function appends a call; the operation is expanded when the program is compiled.
/// Every result is the same bytes on every device that meets kir's float rules (DESIGN section 3, rule 9).
namespace wavegate::ops {

using program::Buffer;
using program::CsrMatrix;
using program::Operand;
using program::Program;
using program::Scalar;

/// result[i] = a * x[i] + y[i], rounded twice. Buffers of f32 of one size; result may be x or y. `a` is a number
/// or a float32 scalar.
void madd(Program& program, Operand a, Buffer x, Buffer y, Buffer result);

/// result = sum of x[i] * y[i], by a fixed tree. Buffers of f32 of one size.
void dot(Program& program, Buffer x, Buffer y, Scalar result);

/// y = A x. x has A.columns elements, y A.rows, both f32; y is neither x nor part of A.
void spmv(Program& program, const CsrMatrix& matrix, Buffer x, Buffer y);

/// r = b - A x, made of spmv and madd.
void residual(Program& program, const CsrMatrix& matrix, Buffer x, Buffer b, Buffer r);

/// The library by name: "madd", "dot", "spmv", "residual". Add your own to a copy.
const program::OperationTable& library();

}  // namespace wavegate::ops
