// The schema of a stream: how the cells of each column lie in memory, and what can be made of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "snapdp/framework/arrow.h"
#include "snapdp/framework/source.h"

namespace snapdp::engines_internal {

// How cells lie in memory.
enum class ArrowForm {
  null,
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  decimal32,
  decimal64,
  decimal128,
  utf8,
  large_utf8,
  utf8_view,
};

// What they are.
enum class ArrowKind {
  null,
  boolean,
  integer,        // of up to 64 signed bits
  large_integer,  // of 64 unsigned bits
  decimal,        // with a fraction, or more than 18 digits
  real,
  text,
};

struct ArrowCellType {
  ArrowForm form = ArrowForm::null;
  ArrowKind kind = ArrowKind::null;
  int digits = 0;  // of a decimal
  int scale = 0;

  friend bool operator==(const ArrowCellType&, const ArrowCellType&) = default;
};

// How many bytes a cell takes in the buffer of values, or an offset into it; 0 for nulls and single bits.
std::size_t arrow_width(ArrowForm form);

struct ArrowColumnType {
  std::string name;
  ArrowCellType cells;             // or those of the dictionary
  std::optional<ArrowForm> index;  // into a dictionary
  std::string unusable;            // as SourceColumn has it

  friend bool operator==(const ArrowColumnType&, const ArrowColumnType&) = default;
};

struct ArrowLayout {
  bool table = true;  // batches are structs of columns; else the only column itself
  std::vector<ArrowColumnType> columns;

  friend bool operator==(const ArrowLayout&, const ArrowLayout&) = default;
};

// Throws bad_data for a schema that cannot be.
ArrowLayout read_layout(const ArrowSchema& schema);

std::vector<SourceColumn> source_columns(const ArrowLayout& layout);

// How a cell is read: first as the type `stored`, which the reader makes of it, then as the type `wanted`, which
// cell_conversion() makes of that.
struct ArrowInput {
  std::size_t column = 0;
  AtomType stored = AtomType::real;
  AtomType wanted = AtomType::real;

  friend bool operator==(const ArrowInput&, const ArrowInput&) = default;
};

// A column as the wanted type.
ArrowInput arrow_input(const ArrowLayout& layout, std::size_t column, AtomType wanted);
// How its cells are told apart. Numbers that lie too close for a double or beyond 64 bits are compared in writing.
ArrowInput exact_arrow_input(const ArrowLayout& layout, std::size_t column);

}  // namespace snapdp::engines_internal
