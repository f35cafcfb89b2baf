#include "engine/data/loader.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "engine/base/error.h"
#include "engine/data/prepare.h"
#include "engine/data/shuffle.h"

namespace loom {
namespace {

constexpr float kMostExact = 0x1p24f;
constexpr std::int64_t kChunkBytes = 256 << 10;  // what a thread prepares between two looks at the lock, roughly

struct Column {
  LoaderColumn wanted;
  std::size_t variable = 0;
  Preparation preparation;
  std::int64_t elements = 0;
  std::size_t bytes = 0;  // of one sample
};

// A thread's own, made before the thread, so that no sample costs an allocation: not even a thread's first one, late in
// a run.
struct Scratch {
  std::vector<Shape> shapes;  // by column
  std::vector<float> values;
};

// A batch being filled or read. Its memory is taken once.
struct Slot {
  Batch batch;
  std::vector<std::unique_ptr<std::byte[]>> memory;  // by column
  std::int64_t capacity = 0;                         // samples
  std::int64_t claimed = 0, filled = 0;              // samples
  std::exception_ptr failure;
};

class BackgroundLoader : public Loader {
 public:
  BackgroundLoader(std::shared_ptr<const Dataset> dataset, LoaderOptions options)
      : m_dataset(std::move(dataset)), m_options(std::move(options)), m_order(m_dataset->size(), false, 0, 0) {
    check();
    std::int64_t sampleBytes = 1;
    for (const LoaderColumn& wanted : m_options.columns) {
      m_columns.push_back(makeColumn(wanted));
      sampleBytes += static_cast<std::int64_t>(m_columns.back().bytes);
    }
    m_chunk = std::clamp<std::int64_t>(kChunkBytes / sampleBytes, 1, 1024);
    m_batch = m_options.batch;
    m_epoch = m_options.epoch + m_options.sample / m_dataset->size();
    m_sample = m_options.sample % m_dataset->size();
    m_slots.resize(static_cast<std::size_t>(std::max(m_options.prefetch, 1)) + 1);
    restart();
    m_scratch.resize(static_cast<std::size_t>(std::clamp(m_options.threads, 1, 256)));
    for (Scratch& scratch : m_scratch) {
      for (const Column& column : m_columns) {
        scratch.shapes.push_back(m_dataset->schema().variables[column.variable].shape);
        scratch.values.resize(std::max(scratch.values.size(), static_cast<std::size_t>(column.elements)));
      }
    }
    for (Scratch& scratch : m_scratch) m_threads.emplace_back([this, &scratch] { run(scratch); });
  }

  ~BackgroundLoader() override {
    {
      const std::lock_guard lock(m_mutex);
      m_ending = true;
    }
    m_work.notify_all();
    for (std::thread& thread : m_threads) thread.join();
  }

  const Batch& next() override {
    std::unique_lock lock(m_mutex);
    if (m_handed) {  // the caller is done with the batch before
      m_handed = false;
      ++m_consumed;
      place(m_produced);
      m_work.notify_all();
    }
    Slot& slot = m_slots[m_consumed % m_slots.size()];
    const auto there = [&] { return slot.failure || slot.filled == slot.batch.partSize; };
    if (!there()) {
      const auto begin = std::chrono::steady_clock::now();
      m_ready.wait(lock, there);
      m_waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    if (slot.failure) std::rethrow_exception(slot.failure);
    lock.unlock();
    m_dataset->verify();
    lock.lock();
    m_handed = true;
    // Behind the last batch of an epoch comes the next epoch, also where samples that fill no batch were dropped.
    const bool last = slot.batch.lastOfEpoch;
    m_epoch = slot.batch.epoch + (last ? 1 : 0);
    m_sample = last ? 0 : slot.batch.first + slot.batch.size;
    return slot.batch;
  }

  double waited() override {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_waited, 0);
  }

  void setBatch(std::int64_t batch) override {
    checkBatch(batch);
    std::unique_lock lock(m_mutex);
    if (batch == m_batch) return;
    m_paused = true;  // what was prepared ahead is thrown away, but no thread may still be writing it
    m_ready.wait(lock, [&] { return m_busy == 0; });
    m_paused = false;
    m_batch = batch;
    // The batch that the caller holds stays valid until next(): its slot is the one that restart() leaves for last.
    restart();
    lock.unlock();
    m_work.notify_all();
  }

 private:
  void check() const {
    if (m_options.parts < 1 || m_options.partBegin < 0 || m_options.partBegin > m_options.partEnd ||
        m_options.partEnd > m_options.parts)
      throwError(ErrorCode::badArgument, "parts {} to {} of {} are no part of a batch", m_options.partBegin,
                 m_options.partEnd, m_options.parts);
    if (m_options.epoch < 0 || m_options.sample < 0)
      throwError(ErrorCode::badArgument, "epoch {} and sample {} are no place to begin", m_options.epoch,
                 m_options.sample);
    if (m_dataset->size() == 0) throwError(ErrorCode::badData, "the dataset has no samples");
    checkBatch(m_options.batch);
  }

  void checkBatch(std::int64_t batch) const {
    if (batch < 1)
      throwError(ErrorCode::badArgument, "a batch of {} samples is wanted, but at least 1 is possible", batch);
    if (m_options.dropLast && batch > m_dataset->size())
      throwError(ErrorCode::badProject,
                 "a batch has {} samples, but the dataset {}: no batch is left when the last one is dropped; take a "
                 "smaller batch",
                 batch, m_dataset->size());
  }

  Column makeColumn(const LoaderColumn& wanted) const {
    const Schema& schema = m_dataset->schema();
    const int index = schema.indexOf(wanted.variable);
    if (index < 0) {
      std::vector<std::string> names;
      for (const Variable& variable : schema.variables) names.push_back(variable.name);
      std::string all;
      for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
      throwError(ErrorCode::badProject, "the network wants the variable '{}', but the dataset has {}", wanted.variable,
                 all);
    }
    const bool raw = wanted.type == DataType::u8;
    if (!raw && wanted.type != DataType::f32 && wanted.type != DataType::i32)
      throwError(ErrorCode::internal, "batches hold f32, i32 or u8, not {}", toString(wanted.type));
    const auto place = static_cast<std::size_t>(index);
    Column column{wanted, place,
                  Preparation(schema.variables[place], m_options.prepare, m_options.random, m_options.seed), 0, 0};
    if (raw && (schema.variables[place].type != DataType::u8 || schema.variables[place].varying()))
      throwError(ErrorCode::internal, "'{}' is not stored as bytes of one shape", wanted.variable);
    column.elements = raw ? schema.variables[place].shape.elements() : column.preparation.shape().elements();
    if (column.elements != wanted.shape.elements())
      throwError(ErrorCode::badProject,
                 "the network's input for '{}' has the shape {} ({} numbers), but the dataset gives {} ({} numbers) "
                 "after preparation",
                 wanted.variable, wanted.shape.toString(), wanted.shape.elements(),
                 column.preparation.shape().toString(), column.elements);
    column.bytes = static_cast<std::size_t>(column.elements) * bytesOf(wanted.type);
    return column;
  }

  // From the consumer's position on. Under the lock or before the threads run.
  void restart() {
    m_nextEpoch = m_epoch;
    m_nextFirst = m_sample;
    m_produced = m_consumed + (m_handed ? 1 : 0);
    const std::size_t last = m_consumed + m_slots.size();
    while (m_produced < last) place(m_produced);
  }

  // Gives the batch `number` its place in the data. Under the lock.
  void place(std::size_t number) {
    Slot& slot = m_slots[number % m_slots.size()];
    const std::int64_t size = m_dataset->size();
    if (m_nextFirst >= size || (m_options.dropLast && size - m_nextFirst < m_batch)) {
      ++m_nextEpoch;
      m_nextFirst = 0;
    }
    Batch& batch = slot.batch;
    batch.epoch = m_nextEpoch;
    batch.first = m_nextFirst;
    batch.size = std::min(m_batch, size - m_nextFirst);
    m_nextFirst += batch.size;
    batch.lastOfEpoch = m_nextFirst >= size || (m_options.dropLast && size - m_nextFirst < m_batch);
    batch.partFirst = batch.size * m_options.partBegin / m_options.parts;
    batch.partSize = batch.size * m_options.partEnd / m_options.parts - batch.partFirst;
    if (slot.capacity < batch.partSize || slot.memory.size() != m_columns.size()) {
      // A part of a smaller batch is never larger than that of a full one and a sample.
      const std::int64_t most = m_batch * (m_options.partEnd - m_options.partBegin) / m_options.parts + 1;
      slot.memory.clear();
      for (const Column& column : m_columns)
        slot.memory.push_back(
            std::make_unique_for_overwrite<std::byte[]>(column.bytes * static_cast<std::size_t>(most)));
      slot.capacity = most;
    }
    batch.rows.resize(static_cast<std::size_t>(batch.partSize));
    batch.columns.resize(m_columns.size());
    for (std::size_t c = 0; c < m_columns.size(); ++c)
      batch.columns[c] = {slot.memory[c].get(), m_columns[c].bytes * static_cast<std::size_t>(batch.partSize)};
    slot.claimed = slot.filled = 0;
    slot.failure = nullptr;
    m_produced = number + 1;
  }

  // The oldest batch that has samples nobody prepares yet.
  Slot* claimable() {
    for (std::size_t number = m_consumed + (m_handed ? 1 : 0); number < m_produced; ++number) {
      Slot& slot = m_slots[number % m_slots.size()];
      if (!slot.failure && slot.claimed < slot.batch.partSize) return &slot;
    }
    return nullptr;
  }

  void run(Scratch& scratch) {
    std::unique_lock lock(m_mutex);
    for (;;) {
      Slot* slot = nullptr;
      m_work.wait(lock, [&] { return m_ending || (!m_paused && (slot = claimable()) != nullptr); });
      if (m_ending) return;
      const std::int64_t begin = slot->claimed, end = std::min(begin + m_chunk, slot->batch.partSize);
      slot->claimed = end;
      if (m_orderEpoch != slot->batch.epoch || !m_orderKnown) {
        m_order = EpochOrder(m_dataset->size(), m_options.shuffle, m_options.seed, slot->batch.epoch);
        m_orderEpoch = slot->batch.epoch;
        m_orderKnown = true;
      }
      const EpochOrder order = m_order;
      ++m_busy;
      lock.unlock();
      std::exception_ptr failure;
      try {
        for (std::int64_t i = begin; i < end; ++i)
          fill(*slot, i, order[slot->batch.first + slot->batch.partFirst + i], scratch);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      --m_busy;
      if (failure && !slot->failure) slot->failure = failure;
      slot->filled += end - begin;
      if (slot->failure || slot->filled == slot->batch.partSize || (m_paused && m_busy == 0)) m_ready.notify_all();
    }
  }

  void fill(Slot& slot, std::int64_t at, std::int64_t row, Scratch& scratch) const {
    slot.batch.rows[static_cast<std::size_t>(at)] = row;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
      const Column& column = m_columns[c];
      Shape& shape = scratch.shapes[c];
      const auto raw = m_dataset->read(row, column.variable, &shape);
      std::byte* const to = slot.memory[c].get() + column.bytes * static_cast<std::size_t>(at);
      if (column.wanted.type == DataType::u8) {
        std::memcpy(to, raw.data(), column.bytes);
        continue;
      }
      if (column.wanted.type == DataType::f32) {
        column.preparation.apply(raw, shape, row, slot.batch.epoch,
                                 {reinterpret_cast<float*>(to), static_cast<std::size_t>(column.elements)});
        continue;
      }
      const std::span<float> values(scratch.values.data(), static_cast<std::size_t>(column.elements));
      column.preparation.apply(raw, shape, row, slot.batch.epoch, values);
      auto* const integers = reinterpret_cast<std::int32_t*>(to);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::fabs(values[i]) >= kMostExact)
          throwError(
              ErrorCode::badData,
              "row {} of the data, column {}: the value is {:.0f}; labels and indices are held in f32, which tells "
              "whole numbers apart below {:.0f} only: number the classes from 0 on",
              row + 1, column.wanted.variable, values[i], kMostExact);
        if (values[i] != std::floor(values[i]))
          throwError(ErrorCode::badData,
                     "row {} of the data, column {}: the value is {}, but a whole number is needed as a label or index",
                     row + 1, column.wanted.variable, values[i]);
        integers[i] = static_cast<std::int32_t>(values[i]);
      }
    }
  }

  const std::shared_ptr<const Dataset> m_dataset;
  const LoaderOptions m_options;
  std::vector<Column> m_columns;
  std::int64_t m_chunk = 1;

  std::mutex m_mutex;
  std::condition_variable m_work, m_ready;
  std::vector<Slot> m_slots;   // batch `number` lives in slot number % slots
  std::size_t m_consumed = 0;  // the batch that next() gives, or gave while m_handed
  std::size_t m_produced = 0;  // batches that have a place in the data
  bool m_handed = false;
  std::int64_t m_batch = 1;
  std::int64_t m_epoch = 0, m_sample = 0;         // behind what was handed out
  std::int64_t m_nextEpoch = 0, m_nextFirst = 0;  // of the next batch that gets a place
  EpochOrder m_order;
  std::int64_t m_orderEpoch = -1;
  bool m_orderKnown = false;
  double m_waited = 0;
  int m_busy = 0;  // threads that prepare now
  bool m_paused = false, m_ending = false;
  std::vector<Scratch> m_scratch;  // by thread
  std::vector<std::thread> m_threads;
};

}  // namespace

std::unique_ptr<Loader> makeLoader(std::shared_ptr<const Dataset> dataset, LoaderOptions options) {
  return std::make_unique<BackgroundLoader>(std::move(dataset), std::move(options));
}

}  // namespace loom
