// Cells on their way from Python to columns, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/bindings.h"
#include "snapdp/framework/chunk.h"

namespace snapdp::python {

// A column that owns its cells.
class OwnedColumn {
 public:
  explicit OwnedColumn(AtomType type) : type_(type) {}
  // One more cell; None is null. Throws invalid_argument naming `parameter` for what is no cell of this type: never
  // the value, and a number with a point is no integer.
  void add(nb::handle cell, const char* parameter);
  // For as long as this column is, and nothing is added.
  Column column();
  std::size_t rows() const { return rows_; }

 private:
  AtomType type_;
  std::size_t rows_ = 0;
  bool nulls_ = false;
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
  std::vector<std::uint8_t> validity_;
};

// A scalar of NumPy as a number of Python; everything else as it is.
nb::object plain(nb::handle cell);
// A cell as Python has it: a float, an int, a str or None. Equal cells are equal objects: 0.0 is both zeros.
nb::object cell_of(const Column& column, std::size_t row);
// A row: its cell when there is one column, else a tuple of cells.
nb::object row_of(const Chunk& rows, std::size_t row);

}  // namespace snapdp::python
