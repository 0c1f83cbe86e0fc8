// Record batches from a producer that may lie about everything but the size of its buffers, which the interface leaves
// to trust: each buffer here is exactly as long as its column's claims make it. They are read as a table, and as a stream.
#include "snapdp/framework/arrow.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "fuzz/fuzz.h"
#include "snapdp/engines/arrow/arrow_source.h"
#include "snapdp/framework/transformation.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

constexpr std::array<const char*, 22> formats{
    "g", "l", "f",  "i",   "I", "c", "C",  "s",     "S",      "b",        "u",
    "U", "n", "+s", "tdD", "L", "e", "vu", "d:9,2", "d:38,6", "d:9,0,32", "d:18,4,64"};

class Producer {
 public:
  explicit Producer(fuzz::Input input) : input_(input) {
    const auto columns = static_cast<std::int64_t>(input_.below(5));
    const bool single = input_.below(8) == 0;
    describe(schema_, array_);
    schema_.format = input_.below(16) == 0 ? text() : "+s";
    array_.n_buffers = 1;
    array_.buffers = buffers_.emplace_back(std::vector<const void*>{nullptr}).data();
    for (std::int64_t i = 0; i < columns; ++i) {
      ArrowSchema& schema = schemas_.emplace_back();
      ArrowArray& array = arrays_.emplace_back();
      fill(schema, array);
      if (input_.below(4) == 1) {
        schema.dictionary = &schemas_.emplace_back();
        array.dictionary = &arrays_.emplace_back();
        fill(*schema.dictionary, *array.dictionary);
        if (input_.below(32) == 1) array.dictionary = nullptr;
      }
      schema_pointers_.push_back(input_.below(64) == 1 ? nullptr : &schema);
      array_pointers_.push_back(input_.below(64) == 1 ? nullptr : &array);
    }
    schema_.children = schema_pointers_.data();
    array_.children = array_pointers_.data();
    schema_.n_children = columns;
    array_.n_children = input_.below(16) == 1 ? input_.value<std::int8_t>() : columns;
    if (single && columns > 0) {
      schema_ = schemas_.front();
      array_ = arrays_.front();
    }
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  const ArrowSchema& schema() const { return schema_; }
  const ArrowArray& array() const { return array_; }

  // Gives the array twice.
  ArrowArrayStream open() {
    given_ = 0;
    ArrowArrayStream stream{};
    stream.private_data = this;
    stream.get_schema = [](ArrowArrayStream* from, ArrowSchema* out) {
      *out = static_cast<Producer*>(from->private_data)->schema_;
      if (out->release != nullptr) out->release = [](ArrowSchema* released) { released->release = nullptr; };
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* from, ArrowArray* out) {
      auto* producer = static_cast<Producer*>(from->private_data);
      *out = producer->given_++ < 2 ? producer->array_ : ArrowArray{};
      if (out->release != nullptr) out->release = [](ArrowArray* released) { released->release = nullptr; };
      return 0;
    };
    stream.release = [](ArrowArrayStream* released) { released->release = nullptr; };
    return stream;
  }

 private:
  // A length or an offset: small, as there must be buffers, or impossible.
  std::int64_t extent() {
    const auto byte = input_.value<std::uint8_t>();
    switch (byte) {
      case 250:
        return std::numeric_limits<std::int64_t>::max();
      case 251:
        return std::numeric_limits<std::int64_t>::max() - 1;
      case 252:
        return std::numeric_limits<std::int64_t>::min();
      case 253:
        return -1;
      case 254:
        return (std::int64_t{1} << 40) + 1;
      default:
        return byte % 32;
    }
  }

  const char* text() { return texts_.emplace_back(input_.take(input_.below(8))).c_str(); }

  void describe(ArrowSchema& schema, ArrowArray& array) {
    static const auto keep_schema = [](ArrowSchema*) {};
    static const auto keep_array = [](ArrowArray*) {};
    const auto flags = input_.value<std::uint8_t>();
    schema.name = flags % 8 == 1 ? nullptr : text();
    schema.release = flags / 8 % 32 == 1 ? nullptr : +keep_schema;
    array.release = flags / 8 % 32 == 2 ? nullptr : +keep_array;
    schema.dictionary = flags / 8 % 32 == 3 ? &schema : nullptr;
    array.length = extent();
    array.offset = extent();
    array.null_count = input_.value<std::int8_t>();
  }

  void fill(ArrowSchema& schema, ArrowArray& array) {
    describe(schema, array);
    const std::size_t format = input_.below(formats.size() + 1);
    schema.format = format == formats.size() ? text() : formats[format];
    const auto flags = input_.value<std::uint8_t>();
    // As the interface has it, also for claims that must be refused: then nothing may be read.
    const auto sane = [](std::int64_t extent) {
      return extent >= 0 && extent <= 32 ? static_cast<std::size_t>(extent) : 0;
    };
    const std::size_t cells = sane(array.length) + sane(array.offset);
    const std::string_view kind = schema.format == nullptr ? std::string_view() : schema.format;
    std::vector<const void*> buffers{flags % 2 == 0 ? nullptr : buffer((cells + 7) / 8)};
    if (kind == "u" || kind == "U") {
      const void* ends = buffer((cells + 1) * (kind == "u" ? 4 : 8));
      const std::int64_t end =
          kind == "u" ? last<std::int32_t>(ends, cells) : last<std::int64_t>(ends, cells);
      buffers.push_back(ends);
      buffers.push_back(end >= 0 && end <= 4096 ? buffer(static_cast<std::size_t>(end)) : nullptr);
    } else {
      const std::size_t width =
          kind == "vu" || (kind.starts_with("d:") && !kind.ends_with("32") && !kind.ends_with("64")) ? 16
          : kind == "g" || kind == "l" || kind == "L" || kind.ends_with(",64")                       ? 8
          : kind == "f" || kind == "i" || kind == "I" || kind.ends_with(",32")                       ? 4
          : kind == "s" || kind == "S" || kind == "e"                                                ? 2
                                                                                                     : 1;
      buffers.push_back(buffer(kind == "b" ? (cells + 7) / 8 : cells * width));
      if (kind == "vu") add_parts(buffers);
    }
    if (flags / 2 % 32 == 1) buffers[1] = nullptr;
    // Not aligned: a table refuses it, a stream is read all the same.
    if (flags / 2 % 32 == 2 && kind == "g")
      buffers[1] = static_cast<const char*>(buffer(cells * sizeof(double) + 1)) + 1;
    array.n_buffers =
        flags / 2 % 32 == 3 ? input_.value<std::int8_t>() : static_cast<std::int64_t>(buffers.size());
    array.buffers = flags / 2 % 32 == 4 ? nullptr : buffers_.emplace_back(std::move(buffers)).data();
  }

  // Buffers of bytes, and their sizes.
  void add_parts(std::vector<const void*>& buffers) {
    const std::size_t count = input_.below(3);
    auto* sizes = const_cast<char*>(static_cast<const char*>(buffer(count * sizeof(std::int64_t))));
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = static_cast<std::int64_t>(input_.below(64));
      std::memcpy(sizes + i * sizeof size, &size, sizeof size);
      buffers.push_back(input_.below(16) == 1 ? nullptr : buffer(static_cast<std::size_t>(size)));
    }
    buffers.push_back(sizes);
  }

  const void* buffer(std::size_t size) {
    char* bytes = memory_.emplace_back(new char[size]()).get();
    const std::string_view given = input_.take(std::min(size, input_.below(64)));
    std::copy(given.begin(), given.end(), bytes);
    return bytes;
  }
  template <typename Offset>
  static std::int64_t last(const void* ends, std::size_t cells) {
    Offset end{};
    std::memcpy(&end, static_cast<const char*>(ends) + cells * sizeof end, sizeof end);
    return end;
  }

  fuzz::Input input_;
  int given_ = 0;
  ArrowSchema schema_{};
  ArrowArray array_{};
  std::deque<ArrowSchema> schemas_;
  std::deque<ArrowArray> arrays_;
  std::vector<ArrowSchema*> schema_pointers_;
  std::vector<ArrowArray*> array_pointers_;
  std::deque<std::vector<const void*>> buffers_;
  std::deque<std::string> texts_;
  std::deque<std::unique_ptr<char[]>> memory_;
};

// Every cell is read, by us and by an aggregation.
void check_column(const ArrowTable& table, const std::string& name) {
  const Chunk rows = table.chunk({name});
  const VectorDomain domain = table.domain({name});
  SNAPDP_FUZZ_CHECK(rows.length == table.rows() && domain.contains(rows));
  std::size_t zeros = 0;
  for (std::size_t row = 0; row < rows.length; ++row) {
    if (!rows.column[0].valid(row)) continue;
    if (rows.column[0].type == AtomType::text) {
      for (const char c : rows.column[0].texts()[row]) zeros += c == '\0' ? 1U : 0U;
    }
  }
  SNAPDP_FUZZ_CHECK(zeros < (std::size_t{1} << 20));
  const Aggregation histogram =
      rows.column[0].type == AtomType::text
          ? make_histogram(domain, symmetric_distance(), Bins::texts({"a", ""}).with_other())
          : make_histogram(domain, symmetric_distance(), Bins::edges({0, 1, 2}).with_other());
  const std::vector<Dyadic> counts = histogram(rows);
  Dyadic all;
  for (const Dyadic& count : counts) all += count;
  SNAPDP_FUZZ_CHECK(all == Dyadic(static_cast<std::int64_t>(rows.length)));
}

// Every column as every type, with a unit and groups, on one thread and on two: the same states.
void check_source(Producer& producer) {
  ArrowSource source([&](ArrowArrayStream* out) { *out = producer.open(); });
  ArrowSource parallel([&](ArrowArrayStream* out) { *out = producer.open(); }, {.threads = 2});
  std::vector<Aggregation> counts;
  for (const AtomType type : {AtomType::real, AtomType::integer, AtomType::text}) {
    counts.push_back(make_histogram(untrusted_domain({type}), symmetric_distance(),
                                    type == AtomType::text ? Bins::texts({"a", "0", ""}).with_other()
                                                           : Bins::edges({0, 1, 2}).with_other()));
  }
  const std::vector<SourceColumn> columns = source.columns();
  for (const SourceColumn& column : columns) {
    fuzz::refuses([&] {
      std::vector<FoldRequest> requests;
      for (const Aggregation& count : counts) requests.push_back({{column.name}, &count});
      const FoldResult result = source.fold(requests, {});
      for (std::size_t i = 0; i < requests.size(); ++i) {
        Dyadic all;
        for (const Dyadic& count : counts[i].finish(result.states[i])) all += count;
        SNAPDP_FUZZ_CHECK(all == Dyadic(static_cast<std::int64_t>(result.rows)));
      }
      const RowSelection selection{std::nullopt, RowSelection::UnitLimit{columns.front().name, 1}};
      for (FoldRequest& request : requests) request.groups = {column.name, 1, 1};
      const FoldResult one = source.fold(selection, requests, {});
      const FoldResult two = parallel.fold(selection, requests, {});
      for (std::size_t i = 0; i < requests.size(); ++i)
        SNAPDP_FUZZ_CHECK(counts[i].to_bytes(one.states[i]) == counts[i].to_bytes(two.states[i]));
    });
  }
}

void run(fuzz::Input input) {
  Producer producer(input);
  fuzz::refuses([&] { check_source(producer); });
  fuzz::refuses([&] {
    const ArrowTable table(producer.schema(), producer.array());
    SNAPDP_FUZZ_CHECK(table.names().size() == table.columns().size());
    for (const std::string& name : table.names()) fuzz::refuses([&] { check_column(table, name); });
  });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
