// Rows from the Arrow C data interface: whatever produces record batches (pyarrow, Polars, DataFusion, DuckDB) is folded in
// place, batch after batch. Here one batch is made by hand. For a whole stream of batches, with limits on privacy units and
// releases of whole specifications, there is ArrowSource (snapdp/engines/arrow/arrow_source.h).
#include <snapdp/snapdp.h>

#include <array>
#include <iostream>
#include <vector>

using namespace snapdp;

int main() {
  const std::vector<double> ages{31, 45, 27, 62, 38, 51, 44, 29};
  ArrowSchema column_schema{};
  column_schema.format = "g";  // float64
  column_schema.name = "age";
  column_schema.release = [](ArrowSchema*) {};
  ArrowSchema* columns = &column_schema;
  ArrowSchema schema{};
  schema.format = "+s";  // a struct of columns
  schema.n_children = 1;
  schema.children = &columns;
  schema.release = [](ArrowSchema*) {};

  std::array<const void*, 2> buffers{nullptr, ages.data()};  // no nulls
  ArrowArray column_array{};
  column_array.length = static_cast<std::int64_t>(ages.size());
  column_array.n_buffers = 2;
  column_array.buffers = buffers.data();
  column_array.release = [](ArrowArray*) {};
  ArrowArray* arrays = &column_array;
  std::array<const void*, 1> no_buffer{nullptr};
  ArrowArray array{};
  array.length = column_array.length;
  array.n_buffers = 1;
  array.n_children = 1;
  array.buffers = no_buffer.data();
  array.children = &arrays;
  array.release = [](ArrowArray*) {};

  const ArrowTable batch(schema, array);
  const VectorDomain rows = batch.domain({"age"}).of_unknown_size();
  const auto total = make_drop(rows, symmetric_distance()) >>
                     make_clamp(vector_domain<double>(), symmetric_distance(), Bounds(0, 100)) >>
                     make_sum() >> make_snapping({.epsilon = "1/2"});
  InMemoryAccountant budget(1);
  std::cout << "total of ages: " << to_string(total.release(batch.chunk({"age"}), budget).values[0]) << "\n";
}
