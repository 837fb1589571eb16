//===- BlockCodec.cpp - Reads weights out of their blocks -----------------===//
//
// Plain scalar code, a function a format: kernels are compared with it. Products of a half, a scale of a few bits and a
// weight of a few bits are exact in fp32, so that every weight is rounded at most once, whatever the order.
//
#include "ckjit/Weights/BlockCodec.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace llvm::support;
using namespace ckjit;

float ckjit::halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 0x1F, fraction = half & 0x3FF;
  if (exponent == 0) { // zero or subnormal: fraction * 2^-24
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return bit_cast<float>(bit_cast<uint32_t>(magnitude) | sign);
  }
  uint32_t biased = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  return bit_cast<float>(sign | biased << 23 | fraction << 13);
}

uint16_t ckjit::floatToHalf(float value) {
  uint32_t bits = bit_cast<uint32_t>(value);
  uint16_t sign = bits >> 16 & 0x8000;
  bits &= 0x7FFFFFFF;
  if (bits > 0x7F800000) // NaN, made quiet
    return sign | 0x7E00 | (bits >> 13 & 0x3FF);
  if (bits >= 0x47800000) // 2^16 and above
    return sign | 0x7C00;
  if (bits < 0x38800000) { // below 2^-14: a multiple of 2^-24, to which adding 0.5 rounds it
    float shifted = bit_cast<float>(bits) + 0.5f;
    return sign | static_cast<uint16_t>(bit_cast<uint32_t>(shifted) - 0x3F000000);
  }
  uint32_t odd = bits >> 13 & 1;
  return sign | static_cast<uint16_t>((bits - (uint32_t(127 - 15) << 23) + 0xFFF + odd) >> 13);
}

float ckjit::bf16ToFloat(uint16_t bf16) { return bit_cast<float>(uint32_t(bf16) << 16); }

uint16_t ckjit::floatToBf16(float value) {
  uint32_t bits = bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) // NaN, made quiet
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

namespace {
float halfAt(const uint8_t *at) { return halfToFloat(endian::read16le(at)); }
/// Low or high nibble of byte j of the quants of 32 weights: weights 0 to 15, then 16 to 31.
int nibble(const uint8_t *quants, int element) {
  return element < 16 ? quants[element] & 15 : quants[element - 16] >> 4;
}
int fifthBit(const uint8_t *high, int element) { return int(endian::read32le(high) >> element & 1) << 4; }

void readF32(const uint8_t *block, float *out) { *out = bit_cast<float>(endian::read32le(block)); }
void readBf16(const uint8_t *block, float *out) { *out = bf16ToFloat(endian::read16le(block)); }
void readF16(const uint8_t *block, float *out) { *out = halfAt(block); }

void readQ4_0(const uint8_t *block, float *out) {
  float d = halfAt(block);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(nibble(block + 2, i) - 8);
}
void readQ4_1(const uint8_t *block, float *out) {
  float d = halfAt(block), m = halfAt(block + 2);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(nibble(block + 4, i)) + m;
}
void readQ5_0(const uint8_t *block, float *out) {
  float d = halfAt(block);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>((nibble(block + 6, i) | fifthBit(block + 2, i)) - 16);
}
void readQ5_1(const uint8_t *block, float *out) {
  float d = halfAt(block), m = halfAt(block + 2);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(nibble(block + 8, i) | fifthBit(block + 4, i)) + m;
}
void readQ8_0(const uint8_t *block, float *out) {
  float d = halfAt(block);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}

/// 6-bit scale and offset of group j of 8, out of 12 bytes.
struct GroupScale {
  int scale, offset;
};
GroupScale groupScale(const uint8_t *b, int j) {
  if (j < 4)
    return {b[j] & 63, b[j + 4] & 63};
  return {(b[j + 4] & 15) | (b[j - 4] >> 6) << 4, (b[j + 4] >> 4) | (b[j] >> 6) << 4};
}

void readQ4_K(const uint8_t *block, float *out) {
  float d = halfAt(block), dmin = halfAt(block + 2);
  for (int j = 0; j < 8; ++j) {
    GroupScale group = groupScale(block + 4, j);
    float scale = d * static_cast<float>(group.scale), offset = dmin * static_cast<float>(group.offset);
    const uint8_t *quants = block + 16 + j / 2 * 32;
    for (int i = 0; i < 32; ++i)
      out[32 * j + i] = scale * static_cast<float>(j % 2 ? quants[i] >> 4 : quants[i] & 15) - offset;
  }
}

void readQ6_K(const uint8_t *block, float *out) {
  const uint8_t *scales = block + 192;
  float d = halfAt(block + 208);
  for (int i = 0; i < 256; ++i) {
    // In each half: four runs of 32, of which two share low bytes and all four high bytes.
    int half = i / 128, run = i % 128 / 32, l = i % 32;
    uint8_t low = block[64 * half + 32 * (run % 2) + l], high = block[128 + 32 * half + l];
    int quant = (run < 2 ? low & 15 : low >> 4) | (high >> 2 * run & 3) << 4;
    float scale = d * static_cast<float>(static_cast<int8_t>(scales[i / 16]));
    out[i] = scale * static_cast<float>(quant - 32);
  }
}

using ReadBlock = void (*)(const uint8_t *, float *);
ReadBlock readerOf(DType type) {
  switch (type) {
  case DType::BF16: return readBf16;
  case DType::FP16: return readF16;
  case DType::Q4_0: return readQ4_0;
  case DType::Q4_1: return readQ4_1;
  case DType::Q5_0: return readQ5_0;
  case DType::Q5_1: return readQ5_1;
  case DType::Q8_0: return readQ8_0;
  case DType::Q4_K: return readQ4_K;
  case DType::Q6_K: return readQ6_K;
  default: return readF32;
  }
}
} // namespace

void ckjit::dequantize(DType type, ArrayRef<uint8_t> bytes, MutableArrayRef<float> values) {
  const WeightFormat &format = formatOf(type);
  assert(bytes.size() % format.bytes == 0 && values.size() == bytes.size() / format.bytes * format.elements);
  ReadBlock read = readerOf(type);
  size_t blocks = values.size() / format.elements;
  for (size_t b = 0; b < blocks; ++b)
    read(bytes.data() + b * format.bytes, values.data() + b * format.elements);
}

Error ckjit::dequantizeTensor(const TensorSpec &spec, DType type, ArrayRef<uint8_t> bytes,
                              MutableArrayRef<float> values) {
  std::optional<int64_t> stored = storedBytes(spec.shape, type);
  if (!stored || bytes.size() != static_cast<uint64_t>(*stored))
    return fieldError(tensorLabel(spec), "bytes", Twine(bytes.size()),
                      formatv("{0} as {1}", stored.value_or(-1), dtypeName(type)).str());
  if (values.size() != static_cast<uint64_t>(spec.elements()))
    return fieldError(tensorLabel(spec), "values", Twine(values.size()), Twine(spec.elements()));
  if (spec.heads == 1) {
    dequantize(type, bytes, values);
    return Error::success();
  }
  const int64_t rows = spec.shape[0], cols = spec.shape[1], lanes = cols / spec.heads;
  const int64_t rowBytes = *stored / rows;
  std::vector<float> row(cols);
  for (int64_t r = 0; r < rows; ++r) {
    dequantize(type, bytes.slice(r * rowBytes, rowBytes), row);
    for (int64_t h = 0; h < spec.heads; ++h)
      std::copy_n(&row[h * lanes], lanes, &values[(h * rows + r) * lanes]);
  }
  return Error::success();
}
