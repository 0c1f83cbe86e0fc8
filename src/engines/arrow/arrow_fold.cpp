#include "engines/arrow/arrow_fold.h"

#include <algorithm>
#include <new>

#include "framework/shared/source_parts.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {

using namespace numeric_internal;

namespace {

// The number of the input among the readers, to which it is added when it is new.
std::size_t place_of(const ArrowInput& input, std::vector<ArrowInputReader>& readers) {
  const auto known = std::find_if(readers.begin(), readers.end(),
                                  [&](const ArrowInputReader& reader) { return reader.input() == input; });
  const auto place = static_cast<std::size_t>(known - readers.begin());
  if (known == readers.end()) readers.emplace_back(input);
  return place;
}

std::size_t place_of(const ArrowInput& input, const KeyIndex& index, std::vector<ArrowKeyReader>& readers) {
  const std::string description = index.description();
  const auto known = std::find_if(readers.begin(), readers.end(), [&](const ArrowKeyReader& reader) {
    return reader.input() == input && reader.description() == description;
  });
  const auto place = static_cast<std::size_t>(known - readers.begin());
  if (known == readers.end()) readers.emplace_back(input, index);
  return place;
}

// As a row keeps it: the wanted type comes later.
ArrowInput as_stored(const ArrowInput& input) {
  return {input.column, input.stored, input.stored};
}

// The rows of a block that are selected.
struct Selected {
  std::array<std::uint8_t, block_rows> holds;
  std::array<std::uint32_t, block_rows> rows;
  std::size_t count = 0;
};

// These rows of the column, one after the other.
Column gathered(const Column& column, const Selected& selected, Scratch::Buffer& buffer) {
  if (column.type == AtomType::text) {
    for (std::size_t i = 0; i < selected.count; ++i) buffer.texts()[i] = column.texts()[selected.rows[i]];
  } else {
    // Numbers of both types have eight bytes.
    for (std::size_t i = 0; i < selected.count; ++i) {
      std::memcpy(buffer.values + i * sizeof(double),
                  static_cast<const char*>(column.values) + selected.rows[i] * sizeof(double),
                  sizeof(double));
    }
  }
  Column result{column.type, buffer.values};
  if (column.validity == nullptr) return result;
  std::fill_n(buffer.validity, (selected.count + 7) / 8, std::uint8_t{0});
  for (std::size_t i = 0; i < selected.count; ++i) {
    const unsigned valid = column.valid(selected.rows[i]) ? 1 : 0;
    buffer.validity[i / 8] = static_cast<std::uint8_t>(buffer.validity[i / 8] | valid << (i % 8));
  }
  result.validity = buffer.validity;
  return result;
}

// Cells that units keep, as columns again.
class KeptBlock {
 public:
  KeptBlock(const std::vector<ArrowInputReader>& cells, const std::vector<bool>& wanted) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      types_.push_back(cells[i].input().stored);
      buffers_.push_back(wanted[i] ? std::make_unique<Scratch::Buffer>() : nullptr);
    }
  }

  std::size_t rows() const { return rows_; }
  void clear() { rows_ = 0; }
  void add(std::string_view record) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const ContentCell cell = take_cell(record);
      if (buffers_[i]) write(cell, types_[i], *buffers_[i]);
    }
    ++rows_;
  }
  Column column(std::size_t cell) const {
    return {types_[cell], buffers_[cell]->values, buffers_[cell]->validity, 0};
  }

 private:
  void write(const ContentCell& cell, AtomType type, Scratch::Buffer& buffer) const {
    if (type == AtomType::text) {
      buffer.texts()[rows_] = cell.text;
    } else {
      const std::uint64_t bits = cell.type ? stored_bits(cell, type) : 0;
      std::memcpy(buffer.values + rows_ * sizeof bits, &bits, sizeof bits);
    }
    std::uint8_t& byte = buffer.validity[rows_ / 8];
    const auto bit = static_cast<std::uint8_t>(1U << (rows_ % 8));
    byte = static_cast<std::uint8_t>(cell.type ? byte | bit : byte & ~bit);
  }

  std::vector<AtomType> types_;
  std::vector<std::unique_ptr<Scratch::Buffer>> buffers_;
  std::size_t rows_ = 0;
};

[[noreturn]] void refuse_memory() {
  throw Error(ErrorCode::io, "stream",
              "stream: there is no memory for the rows that units keep; lower max_rows_per_unit or use a "
              "machine with more memory");
}

}  // namespace

// ---- Passes -----------------------------------------------------------------------------------------------------------

void ArrowPass::add(std::size_t number, const FoldRequest& request, const std::vector<ArrowInput>& read) {
  numbers_.push_back(number);
  Folded& folded = folded_.emplace_back(Folded{request.aggregation, {}, std::nullopt});
  const KeyIndex* const index = request.aggregation->key_index();
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (i == 0 && index != nullptr) {
      folded.key = place_of(read[i], *index, keys_);
    } else {
      folded.inputs.push_back(place_of(read[i], inputs_));
    }
  }
}

std::vector<AggregateState> ArrowPass::start() const {
  std::vector<AggregateState> states;
  states.reserve(folded_.size());
  for (const Folded& folded : folded_) states.push_back(folded.aggregation->start());
  return states;
}

void ArrowPass::update(std::vector<AggregateState>& states, std::span<const Column> columns,
                       std::span<const std::uint32_t* const> places, std::size_t count) const {
  for (std::size_t k = 0; k < folded_.size(); ++k) {
    const Folded& folded = folded_[k];
    Chunk rows;
    rows.length = count;
    for (const std::size_t input : folded.inputs) rows.column[rows.column_count++] = columns[input];
    if (folded.key) {
      folded.aggregation->update_placed(states[k], places[*folded.key], rows);
    } else {
      folded.aggregation->update(states[k], rows);
    }
  }
}

void ArrowPass::merge(std::vector<AggregateState>& into, const std::vector<AggregateState>& from) const {
  for (std::size_t k = 0; k < folded_.size(); ++k) folded_[k].aggregation->merge(into[k], from[k]);
}

// ---- One thread -------------------------------------------------------------------------------------------------------

class ArrowFold::Worker {
 public:
  explicit Worker(const ArrowFold& fold) : fold_(&fold), selected_(std::make_unique<Selected>()) {}

  std::vector<AggregateState>& states() { return states_; }
  void start(const ArrowPass& pass) { states_ = pass.start(); }

  // Of a batch.
  void work(const BatchPiece& piece) {
    const FloatEnvironment environment;
    for (std::size_t first = piece.first; first < piece.first + piece.count; first += block_rows) {
      const std::size_t count = std::min(block_rows, piece.first + piece.count - first);
      if (fold_->store_) {
        keep(*piece.batch, first, count);
      } else {
        fold(*piece.batch, first, count);
      }
    }
  }

  // Of the rows that units keep.
  void work(const ArrowPass& pass, const KeptCells& cells, UnitStore::Cursor kept) {
    const FloatEnvironment environment;
    std::vector<bool> wanted(fold_->cells_.size());
    for (const std::size_t cell : cells.inputs) wanted[cell] = true;
    for (const std::size_t cell : cells.keys) wanted[cell] = true;
    KeptBlock block(fold_->cells_, wanted);
    while (true) {
      const std::optional<std::string_view> record = kept.next();
      if (record) block.add(*record);
      if (block.rows() == block_rows || (!record && block.rows() > 0)) {
        fold(pass, cells, block);
        block.clear();
      }
      if (!record) return;
    }
  }

 private:
  // Which rows of the block are selected.
  void select(const PreparedBatch& batch, std::size_t first, std::size_t count) {
    Selected& selected = *selected_;
    std::fill_n(selected.holds.begin(), count, std::uint8_t{1});
    selected.count = count;
    if (!fold_->where_) return;
    Chunk compared;
    compared.length = count;
    for (std::size_t i = 0; i < fold_->where_inputs_.size(); ++i) {
      compared.column[compared.column_count++] =
          fold_->where_inputs_[i].read(batch.batch, batch.where[i], first, count, room(i));
    }
    fold_->where_->evaluate(compared, selected.holds.data());
    selected.count = 0;
    for (std::size_t row = 0; row < count; ++row) {
      selected.rows[selected.count] = static_cast<std::uint32_t>(row);
      selected.count += selected.holds[row];
    }
  }

  void fold(const PreparedBatch& batch, std::size_t first, std::size_t count) {
    select(batch, first, count);
    const Selected& selected = *selected_;
    if (selected.count == 0) return;
    const bool some = selected.count < count;
    const ArrowPass& pass = fold_->passes_.front();
    columns_.clear();
    for (std::size_t i = 0; i < pass.inputs().size(); ++i) {
      const Column column = pass.inputs()[i].read(batch.batch, batch.inputs[i], first, count, room(i));
      columns_.push_back(some ? gathered(column, selected, gather_room(i)) : column);
    }
    for (std::size_t k = 0; k < pass.keys().size(); ++k) {
      std::uint32_t* const places = places_of(k);
      pass.keys()[k].read(batch.batch, batch.keys[k], first, count, room(pass.inputs().size()), places);
      if (!some) continue;
      for (std::size_t i = 0; i < selected.count; ++i) places[i] = places[selected.rows[i]];
    }
    pass.update(states_, columns_, places_, selected.count);
  }

  void keep(const PreparedBatch& batch, std::size_t first, std::size_t count) {
    select(batch, first, count);
    Selected& selected = *selected_;
    if (selected.count == 0) return;
    columns_.clear();
    for (std::size_t i = 0; i < fold_->cells_.size(); ++i)
      columns_.push_back(fold_->cells_[i].read(batch.batch, batch.inputs[i], first, count, room(i)));
    for (std::size_t row = 0; row < count; ++row)
      selected.holds[row] &= names_unit(columns_[fold_->unit_], row);
    try {
      fold_->store_->add(columns_, count, selected.holds.data());
    } catch (const std::bad_alloc&) {
      refuse_memory();
    }
  }

  void fold(const ArrowPass& pass, const KeptCells& cells, const KeptBlock& block) {
    const std::size_t count = block.rows();
    columns_.clear();
    for (std::size_t i = 0; i < pass.inputs().size(); ++i)
      columns_.push_back(pass.inputs()[i].convert(block.column(cells.inputs[i]), count, room(i)));
    for (std::size_t k = 0; k < pass.keys().size(); ++k)
      pass.keys()[k].find(block.column(cells.keys[k]), count, room(pass.inputs().size()), places_of(k));
    pass.update(states_, columns_, places_, count);
  }

  ArrowRoom& room(std::size_t i) {
    while (rooms_.size() <= i) rooms_.push_back(std::make_unique<ArrowRoom>());
    return *rooms_[i];
  }
  Scratch::Buffer& gather_room(std::size_t i) {
    while (gathered_.size() <= i) gathered_.push_back(std::make_unique<Scratch::Buffer>());
    return *gathered_[i];
  }
  std::uint32_t* places_of(std::size_t key) {
    while (place_rooms_.size() <= key) {
      place_rooms_.push_back(std::make_unique<std::array<std::uint32_t, block_rows>>());
      places_.push_back(place_rooms_.back()->data());
    }
    return place_rooms_[key]->data();
  }

  const ArrowFold* fold_;
  std::vector<AggregateState> states_;
  std::unique_ptr<Selected> selected_;
  std::vector<Column> columns_;
  std::vector<std::unique_ptr<ArrowRoom>> rooms_;
  std::vector<std::unique_ptr<Scratch::Buffer>> gathered_;
  std::vector<std::unique_ptr<std::array<std::uint32_t, block_rows>>> place_rooms_;
  std::vector<const std::uint32_t*> places_;
};

// ---- All of them ------------------------------------------------------------------------------------------------------

ArrowFold::ArrowFold(const ArrowLayout& layout, const std::vector<SourceColumn>& columns,
                     const RowSelection& selection, std::span<const FoldRequest> requests, unsigned threads)
    : layout_(layout), columns_(columns), threads_(threads), requests_(requests.size()) {
  check_selection(selection, requests);
  if (selection.where) {
    where_ = selection.where->predicate;
    for (std::size_t i = 0; i < selection.where->columns.size(); ++i) {
      where_inputs_.emplace_back(
          arrow_input(layout_, find(selection.where->columns[i]), selection.where->types[i]));
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const FoldRequest& request = requests[i];
    std::vector<ArrowInput> read;
    for (std::size_t k = 0; k < request.columns.size(); ++k) {
      read.push_back(arrow_input(layout_, find(request.columns[k]),
                                 request.aggregation->input_domain().columns()[k].type));
    }
    auto pass = std::find_if(passes_.begin(), passes_.end(),
                             [&](const ArrowPass& each) { return each.groups() == request.groups; });
    if (pass == passes_.end()) pass = passes_.emplace(passes_.end(), request.groups);
    pass->add(i, request, read);
  }
  // The rows are counted all the same.
  if (passes_.empty()) passes_.emplace_back(std::nullopt);
  if (!selection.unit) return;

  const std::vector<std::string> content = columns_read(selection, requests);
  for (const std::string& name : content) cells_.emplace_back(exact_arrow_input(layout_, find(name)));
  unit_ = place_of(exact_arrow_input(layout_, find(selection.unit->column)), cells_);
  for (const ArrowPass& pass : passes_) {
    KeptCells& kept = kept_cells_.emplace_back();
    for (const ArrowInputReader& input : pass.inputs())
      kept.inputs.push_back(place_of(as_stored(input.input()), cells_));
    for (const ArrowKeyReader& key : pass.keys())
      kept.keys.push_back(place_of(as_stored(key.input()), cells_));
    if (pass.groups()) {
      kept.groups = {.cell = place_of(exact_arrow_input(layout_, find(pass.groups()->column)), cells_),
                     .limit = {.max_groups = pass.groups()->max_groups, .max_rows = pass.groups()->max_rows}};
    }
  }
  store_ = std::make_unique<UnitStore>(UnitStore::Layout{
      .content_cells = content.size(), .unit = unit_, .max_rows = selection.unit->max_rows});
}

std::size_t ArrowFold::find(const std::string& name) {
  const std::size_t place = find_column(columns_, name);
  if (std::find(used_.begin(), used_.end(), place) == used_.end()) used_.push_back(place);
  return place;
}

std::unique_ptr<PreparedBatch> ArrowFold::prepare(ArrowOwned<ArrowArray> array) const {
  auto batch = std::make_unique<PreparedBatch>(ArrowBatch(std::move(array), layout_, used_));
  for (const ArrowInputReader& each : where_inputs_) batch->where.push_back(each.prepare(batch->batch));
  for (const ArrowInputReader& each : store_ ? cells_ : passes_.front().inputs())
    batch->inputs.push_back(each.prepare(batch->batch));
  if (store_) return batch;
  for (const ArrowKeyReader& each : passes_.front().keys()) batch->keys.push_back(each.prepare(batch->batch));
  return batch;
}

std::uint64_t ArrowFold::read(ArrowStream& stream, std::vector<Worker>& workers, const Progress& progress) {
  PieceQueue queue(threads_);
  std::uint64_t rows = 0;
  const auto work = [&](unsigned thread, bool wait) {
    const std::optional<BatchPiece> piece = queue.take(wait);
    if (!piece) return false;
    workers[thread].work(*piece);
    PieceQueue::done(*piece);
    return true;
  };
  const auto read_and_work = [&] {
    while (!queue.abandoned()) {
      std::optional<ArrowOwned<ArrowArray>> array = stream.next();
      if (!array) break;
      {
        const FloatEnvironment environment;  // the dictionaries are converted here
        std::unique_ptr<PreparedBatch> batch = prepare(std::move(*array));
        rows = add_rows(rows, batch->batch.rows());
        queue.add(std::move(batch));
      }
      while ((threads_ == 1 || queue.is_full()) && work(0, false)) {
      }
      queue.release();
      if (progress) progress(0);
    }
    queue.close();
    while (work(0, true)) {
    }
  };
  run_on_threads(threads_, [&](unsigned thread) {
    try {
      if (thread == 0) return read_and_work();
      while (work(thread, true)) {
      }
    } catch (...) {
      queue.abandon();
      throw;
    }
  });
  return rows;
}

FoldResult ArrowFold::run(ArrowStream& stream, const Progress& progress) {
  std::vector<Worker> workers;
  for (unsigned i = 0; i < threads_; ++i) workers.emplace_back(*this);
  if (!store_) {
    for (Worker& worker : workers) worker.start(passes_.front());
  }
  FoldResult result;
  result.rows = read(stream, workers, progress);
  std::vector<std::optional<AggregateState>> states(requests_);
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (store_) fold_kept(i, workers);
    std::vector<AggregateState>& merged = workers.front().states();
    for (std::size_t k = 1; k < workers.size(); ++k) passes_[i].merge(merged, workers[k].states());
    for (std::size_t k = 0; k < merged.size(); ++k) states[passes_[i].numbers()[k]] = std::move(merged[k]);
  }
  for (std::optional<AggregateState>& state : states) result.states.push_back(std::move(state.value()));
  if (progress) progress(100);
  return result;
}

void ArrowFold::fold_kept(std::size_t pass, std::vector<Worker>& workers) const {
  std::atomic<std::size_t> next_shard{0};
  for (Worker& worker : workers) worker.start(passes_[pass]);
  run_on_threads(threads_, [&](unsigned thread) {
    workers[thread].work(passes_[pass], kept_cells_[pass],
                         UnitStore::Cursor(*store_, kept_cells_[pass].groups, next_shard));
  });
}

}  // namespace snapdp::engines_internal
