#include "engine/data/csv_rows.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace loom {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::int64_t kFirstRows = 128;  // enough to settle the plan
constexpr std::int64_t kRowsOfSizes = 8;
constexpr std::size_t kDecodedBytes = std::size_t{8} << 20;  // that a chunk's files may take, roughly

struct Item {
  CsvBlock block;
  std::size_t offset = 0;
  std::int64_t line = 1;
  RowChunk chunk;
  RowParser::Scratch scratch;
  RowFaults faults;
  std::exception_ptr failure;
  bool done = false;
};

// Parses items on threads of its own; take() waits for the oldest.
class Workers {
 public:
  Workers(int count, std::function<void(Item&)> work) : m_work(std::move(work)) {
    for (int i = 0; i < count; ++i) m_threads.emplace_back([this] { run(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(m_mutex);
      m_ending = true;
      m_waiting.clear();
    }
    m_wake.notify_all();
    for (std::thread& thread : m_threads) thread.join();
  }
  void submit(Item& item) {
    item.done = false;
    if (m_threads.empty()) {
      m_work(item);
      item.done = true;
      return;
    }
    {
      const std::lock_guard lock(m_mutex);
      m_waiting.push_back(&item);
    }
    m_wake.notify_one();
  }
  void finish(Item& item) {
    std::unique_lock lock(m_mutex);
    m_ready.wait(lock, [&] { return item.done; });
  }

 private:
  void run() {
    for (;;) {
      Item* item = nullptr;
      {
        std::unique_lock lock(m_mutex);
        m_wake.wait(lock, [&] { return m_ending || !m_waiting.empty(); });
        if (m_ending) return;
        item = m_waiting.front();
        m_waiting.pop_front();
      }
      m_work(*item);
      {
        const std::lock_guard lock(m_mutex);
        item->done = true;
      }
      m_ready.notify_one();
    }
  }
  std::function<void(Item&)> m_work;
  std::mutex m_mutex;
  std::condition_variable m_wake, m_ready;
  std::deque<Item*> m_waiting;
  bool m_ending = false;
  std::vector<std::thread> m_threads;
};

}  // namespace

void RowFaults::add(Fault fault, std::size_t listed) {
  const auto kind = static_cast<std::size_t>(fault.kind);
  ++bySeverity[kind][static_cast<std::size_t>(fault.severity)];
  if (fault.kind == FaultKind::notANumber || fault.kind == FaultKind::missingFile) ++words[{fault.column, fault.kind}];
  if (static_cast<std::size_t>(counts[kind]++) < listed) faults.push_back(std::move(fault));
}

Error toError(const Fault& fault, const std::filesystem::path& csv) {
  Error error(fault.kind == FaultKind::missingFile ? ErrorCode::missingFile : ErrorCode::badData,
              fault.found + ", but " + fault.wanted + "; " + fault.remedy);
  std::string where = csv.filename().string();
  if (fault.line > 0) where += fmt::format(" line {}", fault.line);
  if (!fault.column.empty()) where += fmt::format(", column {}", fault.column);
  return error.addContext(std::move(where)), error;
}

RowFaults readRows(const ReadRows& request, const RowConsumer& consumer) {
  RowFaults own;
  const FaultSink toOwn = [&](Fault fault) {
    if (!request.collect && fault.severity == FaultSeverity::error) throw toError(fault, request.csv);
    own.add(std::move(fault), request.listed);
  };
  CsvBlockReader reader(request.csv, kBlockBytes);
  const std::filesystem::path folder = request.csv.parent_path();

  auto first = std::make_unique<Item>();
  if (!reader.next(first->block, kFirstRows)) {
    toOwn({.kind = FaultKind::unreadable,
           .line = 0,
           .column = {},
           .found = "the file is empty",
           .wanted = "a header and a line for each sample are needed",
           .remedy = "write a first line such as 'x:image,y:label'"});
    return own;
  }
  std::size_t offset = 0;
  std::int64_t headerLines = 0;
  const auto cells = takeHeader(first->block.text(), offset, headerLines, toOwn);
  const CsvHeader header = parseHeader(cells, toOwn);
  if (header.variables.empty()) return own;
  RowParser parser(header, folder);
  parser.decodeFiles = request.decodeFiles;
  parser.prepareWith(request.prepare);
  parser.letSizesDiffer(request.sizes);
  if (request.collect) parser.letAllSizesDiffer();
  parser.settle(first->block, offset, request.collect, toOwn);
  if (consumer.start) consumer.start(header, parser);
  first->offset = offset;
  first->line = 1 + headerLines;

  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // A file that fits one block with nothing to decode is not worth a thread.
  const bool small = reader.fileSize() < 65536 && !parser.hasFiles();
  const int threads = small ? 0 : std::min(request.threads > 0 ? request.threads : cores, 64);
  std::int64_t records = INT64_MAX;
  if (parser.hasFiles()) {
    std::size_t rowBytes = 1;
    bool sizes = false;
    for (const VariablePlan& plan : parser.plan()) {
      rowBytes += plan.cellBytes();
      sizes |= plan.mixed();
    }
    // The first picture says nothing of the others where they differ in size.
    records =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(kDecodedBytes / rowBytes), 1, sizes ? kRowsOfSizes : 4096);
  }

  std::vector<std::unique_ptr<Item>> items;
  Workers workers(threads > 1 ? threads : 0, [&](Item& item) {
    try {
      parser.parse(item.block, item.offset, item.line, item.chunk, item.scratch, [&](Fault fault) {
        if (!request.collect && fault.severity == FaultSeverity::error) throw toError(fault, request.csv);
        item.faults.add(std::move(fault), request.listed);
      });
      if (consumer.prepare) consumer.prepare(parser, item.chunk);
    } catch (...) {
      item.failure = std::current_exception();
    }
  });
  std::deque<Item*> inOrder;
  std::vector<Item*> spare;
  const std::size_t most = threads > 1 ? static_cast<std::size_t>(threads) * 2 + 1 : 1;
  items.push_back(std::move(first));
  workers.submit(*items.back());
  inOrder.push_back(items.back().get());
  std::exception_ptr readFailure;
  for (bool more = true; more || !inOrder.empty();) {
    while (more && inOrder.size() < most) {
      Item* item = nullptr;
      if (!spare.empty()) {
        item = spare.back();
        spare.pop_back();
      } else {
        items.push_back(std::make_unique<Item>());
        item = items.back().get();
      }
      try {
        more = reader.next(item->block, records);
      } catch (const Error&) {  // what stands before the unreadable place comes first
        readFailure = std::current_exception();
        more = false;
      }
      if (!more) break;
      item->offset = 0;
      item->line = item->block.line;
      item->failure = nullptr;
      item->faults = {};
      workers.submit(*item);
      inOrder.push_back(item);
    }
    if (inOrder.empty()) break;
    Item* const item = inOrder.front();
    workers.finish(*item);
    inOrder.pop_front();
    if (item->failure) std::rethrow_exception(item->failure);
    if (consumer.rows) consumer.rows(item->chunk, item->faults, item->block.end, reader.fileSize());
    spare.push_back(item);
  }
  if (readFailure) std::rethrow_exception(readFailure);
  return own;
}

}  // namespace loom
