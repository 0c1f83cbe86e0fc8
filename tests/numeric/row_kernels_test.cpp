#include "numeric/shared/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace snapdp {

using namespace numeric_internal;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least = std::numeric_limits<double>::denorm_min();

std::vector<InstructionSet> all_kernels() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) sets.push_back(set);
  }
  return sets;
}

// Bitwise, so that NaN and the sign of zero count.
std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> result;
  for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
  return result;
}
const std::vector<std::int64_t>& bits(const std::vector<std::int64_t>& values) {
  return values;
}

// A bitmap with not one byte too many, so that a sanitizer sees any read beyond it.
struct Validity {
  std::unique_ptr<std::uint8_t[]> bytes;
  std::size_t offset;
  const std::uint8_t* pointer() const { return bytes.get(); }
  bool valid(std::size_t row) const {
    return bytes == nullptr || ((bytes[(offset + row) / 8] >> ((offset + row) % 8)) & 1) != 0;
  }
};

Validity validity(std::size_t offset, std::size_t rows, int nulls, std::mt19937_64& random) {
  if (nulls == 0) return {nullptr, offset};
  const std::size_t size = (offset + rows + 7) / 8;
  Validity result{std::make_unique<std::uint8_t[]>(size), offset};
  for (std::size_t i = 0; i < size; ++i) {
    result.bytes[i] = static_cast<std::uint8_t>(nulls == 1 ? random() : nulls == 2 ? 0 : 0xff);
  }
  return result;
}

std::vector<double> real_rows(std::size_t size, std::mt19937_64& random) {
  const double special[] = {0.0, -0.0, nan, -nan, infinity, -infinity, least, -least, 5, 10, 10.5, -3};
  std::vector<double> rows(size);
  for (double& row : rows) {
    row = random() % 2 == 0 ? special[random() % std::size(special)]
                            : std::ldexp(1.0 + static_cast<double>(random() % 99), 0);
  }
  return rows;
}

std::vector<std::int64_t> integer_rows(std::size_t size, std::mt19937_64& random) {
  std::vector<std::int64_t> rows(size);
  for (auto& row : rows) row = static_cast<std::int64_t>(random()) >> (random() % 64);
  return rows;
}

template <typename Run>
void for_shapes(Run run) {
  std::mt19937_64 random(99);
  for (const std::size_t rows : std::vector<std::size_t>{0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 200, 2048}) {
    for (std::size_t offset = 0; offset < 17; ++offset) {
      for (int nulls = 0; nulls < 4; ++nulls) run(rows, validity(offset, rows, nulls, random), random);
    }
  }
}

TEST(ClampRows, EqualsTheDefinitionOnEveryKernelAndInPlace) {
  std::mt19937_64 random(1);
  const std::pair<double, double> bounds[] = {{0, 10}, {-0.0, 0.0},     {-3, 50},
                                              {5, 5},  {-least, least}, {-1e308, 1e308}};
  for (const std::size_t size : std::vector<std::size_t>{0, 1, 7, 8, 9, 100, 2048}) {
    for (const auto& [lower, upper] : bounds) {
      const std::vector<double> rows = real_rows(size, random);
      std::vector<double> right(size);
      for (std::size_t i = 0; i < size; ++i) {
        right[i] = std::isnan(rows[i]) ? lower : rows[i] < lower ? lower : rows[i] > upper ? upper : rows[i];
        if (right[i] == 0) right[i] = 0.0;  // never -0
      }
      for (const InstructionSet kernel : all_kernels()) {
        std::vector<double> out(size);
        clamp_doubles(rows.data(), out.data(), size, lower, upper, kernel);
        EXPECT_EQ(bits(out), bits(right)) << to_string(kernel);
        out = rows;
        clamp_doubles(out.data(), out.data(), size, lower, upper, kernel);
        EXPECT_EQ(bits(out), bits(right)) << to_string(kernel);
      }
    }
    const std::pair<std::int64_t, std::int64_t> integer_bounds[] = {
        {0, 10}, {INT64_MIN, INT64_MAX}, {-5, -5}};
    for (const auto& [lower, upper] : integer_bounds) {
      const std::vector<std::int64_t> rows = integer_rows(size, random);
      for (const InstructionSet kernel : all_kernels()) {
        std::vector<std::int64_t> out = rows;
        clamp_integers(out.data(), out.data(), size, lower, upper, kernel);
        for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(out[i], std::clamp(rows[i], lower, upper));
      }
    }
  }
}

template <typename Value, typename Impute, typename Drop, typename Present>
void check_nulls(const std::vector<Value>& rows, const Validity& validity, Value value, Impute impute,
                 Drop drop, Present present) {
  const std::size_t size = rows.size();
  std::vector<Value> imputed(size), kept;
  for (std::size_t i = 0; i < size; ++i) {
    const bool keep = validity.valid(i) && present(rows[i]);
    imputed[i] = keep ? rows[i] : value;
    if (keep) kept.push_back(rows[i]);
  }
  for (const InstructionSet kernel : all_kernels()) {
    SCOPED_TRACE(std::string(to_string(kernel)) + ", " + std::to_string(size) + " rows, offset " +
                 std::to_string(validity.offset));
    std::vector<Value> out(size);
    impute(rows.data(), validity.pointer(), validity.offset, out.data(), size, value, kernel);
    ASSERT_EQ(bits(out), bits(imputed));
    out = rows;
    impute(out.data(), validity.pointer(), validity.offset, out.data(), size, value, kernel);
    ASSERT_EQ(bits(out), bits(imputed));

    out.assign(size, value);
    out.resize(drop(rows.data(), validity.pointer(), validity.offset, out.data(), size, kernel));
    ASSERT_EQ(bits(out), bits(kept));
    out = rows;
    out.resize(drop(out.data(), validity.pointer(), validity.offset, out.data(), size, kernel));
    ASSERT_EQ(bits(out), bits(kept));
  }
}

TEST(ImputeAndDropRows, EqualTheDefinitionOnEveryKernelAndInPlace) {
  for_shapes([](std::size_t size, const Validity& validity, std::mt19937_64& random) {
    check_nulls(real_rows(size, random), validity, 4.5, impute_doubles, drop_doubles,
                [](double row) { return !std::isnan(row); });
    check_nulls(integer_rows(size, random), validity, std::int64_t{-17}, impute_integers, drop_integers,
                [](std::int64_t) { return true; });
  });
}

TEST(MarkRows, ClearsTheRowsThatDropWouldDrop) {
  for_shapes([](std::size_t size, const Validity& validity, std::mt19937_64& random) {
    const std::vector<double> reals = real_rows(size, random);
    std::vector<std::uint8_t> before(size), nulls(size), missing(size);
    std::size_t null_count = 0;
    std::size_t missing_count = 0;
    for (std::size_t i = 0; i < size; ++i) {
      before[i] = random() % 8 != 0;
      const bool present = validity.valid(i) && !std::isnan(reals[i]);
      nulls[i] = before[i] != 0 && validity.valid(i);
      missing[i] = before[i] != 0 && present;
      null_count += validity.valid(i) ? 0U : 1U;
      missing_count += present ? 0U : 1U;
    }
    ASSERT_EQ(has_nulls(validity.pointer(), validity.offset, size), null_count > 0);
    std::vector<std::uint8_t> keeps = before;
    ASSERT_EQ(mark_nulls(validity.pointer(), validity.offset, size, keeps.data()), null_count);
    ASSERT_EQ(keeps, nulls);
    keeps = before;
    ASSERT_EQ(mark_missing_doubles(reals.data(), validity.pointer(), validity.offset, size, keeps.data()),
              missing_count);
    ASSERT_EQ(keeps, missing);
  });
}

#if defined(__SSE2__)
TEST(ClampRows, DenormalsAreZeroOfTheCallerDoesNotMatter) {
  const std::vector<double> rows(20, 3 * least);
  const unsigned before = _mm_getcsr();
  for (const InstructionSet kernel : all_kernels()) {
    std::vector<double> out(20);
    _mm_setcsr(0x9fc0);
    clamp_doubles(rows.data(), out.data(), rows.size(), 0, 2 * least, kernel);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & ~0x3fU, 0x9fc0U);
    EXPECT_EQ(bits(out), bits(std::vector<double>(20, 2 * least)));
  }
}
#endif

}  // namespace
}  // namespace snapdp
