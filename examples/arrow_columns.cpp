// Rows from the Arrow C data interface: whatever produces record batches (pyarrow, Polars, DataFusion, DuckDB) is folded in
// place. Here one batch is made by hand, and released twice: by itself, and as the stream that frames are handed out as, from
// which ArrowSource releases whole tables.
#include <snapdp/snapdp.h>

#include <array>
#include <iostream>
#include <utility>
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

  // A stream gives its schema, and batches until there are no more: here this one. What it gives is released by whoever reads.
  struct Batches {
    ArrowSchema schema;
    ArrowArray next;
  } batches{schema, array};
  batches.schema.release = [](ArrowSchema* released) { released->release = nullptr; };
  batches.next.release = [](ArrowArray* released) { released->release = nullptr; };
  ArrowArrayStream stream{};
  stream.private_data = &batches;
  stream.get_schema = [](ArrowArrayStream* from, ArrowSchema* out) {
    *out = static_cast<Batches*>(from->private_data)->schema;
    return 0;
  };
  stream.get_next = [](ArrowArrayStream* from, ArrowArray* out) {
    *out = std::exchange(static_cast<Batches*>(from->private_data)->next, ArrowArray{});
    return 0;
  };
  stream.release = [](ArrowArrayStream* released) { released->release = nullptr; };

  ArrowSource people(&stream);  // the stream is the source's now
  const Composition both = make_on_table(
      {},
      {{{"age"}, total},
       {{}, make_count(untrusted_domain({}), symmetric_distance()) >> make_snapping({.epsilon = "1/4"})}});
  InMemoryAccountant another(1);
  const Release release = both.release(people, another);
  std::cout << "again: " << to_string(release.values[0]) << ", of how many: " << to_string(release.values[1])
            << "\n";
}
