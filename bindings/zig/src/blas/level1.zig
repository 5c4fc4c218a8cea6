//! Level 1: vectors. Methods of `Blas`, and rotations on the host.
const c = @import("c");
const errors = @import("../errors.zig");
const types = @import("types.zig");
const asVector = types.asVector;
const Blas = @import("blas.zig").Blas;
const Error = errors.Error;

const unequal = "the vectors have different lengths";
const not_one = "a result has one element";

/// y = alpha x + y. C: km_blas_axpy.
pub fn axpy(blas: Blas, comptime T: type, alpha: T, x: anytype, y: anytype) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(unequal, from.len, to.len);
    try blas.call(T, c.km_blas_axpy, .{ from.len, &alpha, &from.raw, &to.raw });
}

/// x = alpha x. C: km_blas_scal.
pub fn scal(blas: Blas, comptime T: type, alpha: T, x: anytype) Error!void {
    const vector = asVector(T, x);
    try blas.call(T, c.km_blas_scal, .{ vector.len, &alpha, &vector.raw });
}

/// y = x. C: km_blas_copy.
pub fn copy(blas: Blas, comptime T: type, x: anytype, y: anytype) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(unequal, from.len, to.len);
    try blas.call(T, c.km_blas_copy, .{ from.len, &from.raw, &to.raw });
}

/// Exchanges x and y. C: km_blas_swap.
pub fn swap(blas: Blas, comptime T: type, x: anytype, y: anytype) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(unequal, from.len, to.len);
    try blas.call(T, c.km_blas_swap, .{ from.len, &from.raw, &to.raw });
}

/// result = the sum of x_i y_i, one element. C: km_blas_dot.
pub fn dot(blas: Blas, comptime T: type, x: anytype, y: anytype, result: anytype) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    const sum = asVector(T, result);
    try blas.same(unequal, first.len, second.len);
    try blas.same(not_one, sum.len, 1);
    try blas.call(T, c.km_blas_dot, .{ first.len, &first.raw, &second.raw, &sum.raw });
}

/// Like `dot` with the complex conjugates of x. C: km_blas_dotc.
pub fn dotc(blas: Blas, comptime T: type, x: anytype, y: anytype, result: anytype) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    const sum = asVector(T, result);
    try blas.same(unequal, first.len, second.len);
    try blas.same(not_one, sum.len, 1);
    try blas.call(T, c.km_blas_dotc, .{ first.len, &first.raw, &second.raw, &sum.raw });
}

/// result = the Euclidean norm of x, one real element. C: km_blas_nrm2.
pub fn nrm2(blas: Blas, comptime T: type, x: anytype, result: anytype) Error!void {
    const vector = asVector(T, x);
    const norm = asVector(types.Real(T), result);
    try blas.same(not_one, norm.len, 1);
    try blas.call(T, c.km_blas_nrm2, .{ vector.len, &vector.raw, &norm.raw });
}

/// result = the sum of the magnitudes in x, one real element; of complex numbers, of both parts. C:
/// km_blas_asum.
pub fn asum(blas: Blas, comptime T: type, x: anytype, result: anytype) Error!void {
    const vector = asVector(T, x);
    const sum = asVector(types.Real(T), result);
    try blas.same(not_one, sum.len, 1);
    try blas.call(T, c.km_blas_asum, .{ vector.len, &vector.raw, &sum.raw });
}

/// result = the index, from 0, of the first element of the largest magnitude, one u64; all ones
/// when x is empty. C: km_blas_iamax.
pub fn iamax(blas: Blas, comptime T: type, x: anytype, result: anytype) Error!void {
    const vector = asVector(T, x);
    const index = asVector(u64, result);
    try blas.same(not_one, index.len, 1);
    try blas.call(T, c.km_blas_iamax, .{ vector.len, &vector.raw, &index.raw });
}

/// A plane rotation: x_i = cos x_i + sin y_i, y_i = cos y_i - sin x_i. C: km_blas_rot.
pub fn rot(
    blas: Blas,
    comptime T: type,
    x: anytype,
    y: anytype,
    cos: types.Real(T),
    sin: types.Real(T),
) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    try blas.same(unequal, first.len, second.len);
    try blas.call(T, c.km_blas_rot, .{ first.len, &first.raw, &second.raw, &cos, &sin });
}

/// A modified plane rotation by the five parameters of `rotmg`, for f32 and f64. C: km_blas_rotm.
pub fn rotm(blas: Blas, comptime T: type, x: anytype, y: anytype, parameters: [5]T) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    try blas.same(unequal, first.len, second.len);
    try blas.call(T, c.km_blas_rotm, .{ first.len, &first.raw, &second.raw, &parameters });
}

/// The rotation that turns (a, b) into (r, 0). For real numbers `z` is the one that both can be
/// found from.
pub fn Rotation(comptime T: type) type {
    return struct { r: T, z: T, cos: types.Real(T), sin: T };
}

/// The rotation that turns (a, b) into (r, 0), on the host. C: km_blas_rotg.
pub fn rotg(comptime T: type, a: T, b: T) Error!Rotation(T) {
    var found: Rotation(T) = .{ .r = a, .z = b, .cos = undefined, .sin = undefined };
    const got = c.km_blas_rotg(types.dataType(T), &found.r, &found.z, &found.cos, &found.sin);
    try errors.check(got, null);
    return found;
}

/// The numbers of a modified rotation, and the five parameters of `Blas.rotm`.
pub fn ModifiedRotation(comptime T: type) type {
    return struct { d1: T, d2: T, x1: T, parameters: [5]T };
}

/// The modified rotation that turns (sqrt(d1) x1, sqrt(d2) y1) so that the second number becomes 0,
/// on the host, for f32 and f64. Parameters that the flag implies are 0. C: km_blas_rotmg.
pub fn rotmg(comptime T: type, d1: T, d2: T, x1: T, y1: T) Error!ModifiedRotation(T) {
    var found: ModifiedRotation(T) = .{ .d1 = d1, .d2 = d2, .x1 = x1, .parameters = @splat(0) };
    const call = c.km_blas_rotmg;
    const kind = types.dataType(T);
    const parameters = &found.parameters;
    const got = call(kind, &found.d1, &found.d2, &found.x1, &y1, parameters);
    try errors.check(got, null);
    return found;
}
