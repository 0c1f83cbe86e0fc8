#include "core/cells.h"

#include <cmath>
#include <limits>

#include "snapdp/error.h"

namespace snapdp::python {
namespace {

[[noreturn]] void refuse(nb::handle cell, AtomType type, const char* parameter) {
  const std::string kind =
      nb::type_name(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(cell.ptr())))).c_str();
  const char* const wanted = type == AtomType::real ? "give numbers, None where there is none"
                             : type == AtomType::integer
                                 ? "give whole numbers of 64 bits, None where there is none"
                                 : "give texts, None where there is none";
  throw Error(
      ErrorCode::invalid_argument, parameter,
      std::string(parameter) + ": holds a " + kind + " where cells are " + to_string(type) + "; " + wanted);
}

bool is_whole(nb::handle cell) {
  return PyLong_Check(cell.ptr()) && !PyBool_Check(cell.ptr());
}

double real_of(nb::handle cell, const char* parameter) {
  if (PyFloat_Check(cell.ptr())) return PyFloat_AsDouble(cell.ptr());
  if (is_whole(cell)) {
    const double value = PyLong_AsDouble(cell.ptr());
    if (PyErr_Occurred() == nullptr) return value;
    PyErr_Clear();
  }
  refuse(cell, AtomType::real, parameter);
}

std::int64_t integer_of(nb::handle cell, const char* parameter) {
  if (is_whole(cell)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(cell.ptr(), &overflow);
    if (overflow == 0) return value;
  }
  refuse(cell, AtomType::integer, parameter);
}

std::string text_of(nb::handle cell, const char* parameter) {
  if (PyUnicode_Check(cell.ptr())) {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(cell.ptr(), &size);
    if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
    PyErr_Clear();  // half a character
  }
  refuse(cell, AtomType::text, parameter);
}

}  // namespace

nb::object plain(nb::handle cell) {
  if (!nb::hasattr(cell, "dtype") || !nb::hasattr(cell, "item")) return nb::borrow(cell);
  return cell.attr("item")();
}

void OwnedColumn::add(nb::handle cell, const char* parameter) {
  const nb::object value = plain(cell);
  const bool valid = !value.is_none();
  if (rows_ % 8 == 0) validity_.push_back(0);
  validity_.back() =
      static_cast<std::uint8_t>(validity_.back() | (static_cast<unsigned>(valid) << (rows_ % 8)));
  nulls_ = nulls_ || !valid;
  if (type_ == AtomType::real) {
    reals_.push_back(valid ? real_of(value, parameter) : 0.0);
  } else if (type_ == AtomType::integer) {
    integers_.push_back(valid ? integer_of(value, parameter) : 0);
  } else {
    texts_.push_back(valid ? text_of(value, parameter) : std::string());
  }
  ++rows_;
}

Column OwnedColumn::column() {
  views_.assign(texts_.begin(), texts_.end());
  const void* const values = type_ == AtomType::real      ? static_cast<const void*>(reals_.data())
                             : type_ == AtomType::integer ? static_cast<const void*>(integers_.data())
                                                          : static_cast<const void*>(views_.data());
  return {type_, values, nulls_ ? validity_.data() : nullptr, 0};
}

nb::object cell_of(const Column& column, std::size_t row) {
  if (!column.valid(row)) return nb::none();
  if (column.type == AtomType::integer) return nb::int_(column.integers()[row]);
  if (column.type == AtomType::text) {
    const std::string_view text = column.texts()[row];
    return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  }
  const double value = column.reals()[row];
  if (std::isnan(value)) return nb::float_(std::numeric_limits<double>::quiet_NaN());
  return nb::float_(value == 0 ? 0.0 : value);
}

nb::object row_of(const Chunk& rows, std::size_t row) {
  if (rows.column_count == 1) return cell_of(rows.column[0], row);
  nb::list cells;
  for (const Column& column : rows.columns()) cells.append(cell_of(column, row));
  return nb::steal(PyList_AsTuple(cells.ptr()));
}

}  // namespace snapdp::python
