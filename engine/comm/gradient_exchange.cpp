#include "engine/comm/gradient_exchange.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace loom {
namespace {

// Where nobody chose: one for each wire, as large as its largest bucket.
void addAutomatic(Communicator& communicator, std::vector<GradientExchange::Bucket>& buckets) {
  std::map<Wire, std::size_t> most;
  for (const GradientExchange::Bucket& bucket : buckets)
    if (!bucket.reduction) most[bucket.wire] = std::max(most[bucket.wire], bucket.floats());
  for (const auto& [wire, floats] : most) {
    const std::shared_ptr<Reduction> reduction =
        reductionOf({}, wire, false)
            .make(communicator,
                  {.ranks = communicator.size(), .floats = floats, .wire = wire, .shards = communicator.size()});
    for (GradientExchange::Bucket& bucket : buckets)
      if (!bucket.reduction && bucket.wire == wire) bucket.reduction = reduction;
  }
}

}  // namespace

std::size_t GradientExchange::Bucket::floats() const {
  std::size_t count = 0;
  for (const std::span<float>& tensor : tensors) count += tensor.size();
  return count;
}

GradientExchange::GradientExchange(Communicator& communicator, std::vector<Bucket> buckets, Trace* trace,
                                   Streams streams)
    : m_communicator(communicator),
      m_sumsOnStreams(streams.sums),
      m_buckets(std::move(buckets)),
      m_trace(trace),
      m_posted(std::make_unique<std::atomic<std::uint32_t>[]>(m_buckets.size())),
      m_least(std::make_unique<std::atomic<double>[]>(m_buckets.size())) {
  addGroup("data", communicator.split(0, communicator.rank()), std::move(streams.ranks));
  addAutomatic(communicator, m_buckets);
  std::size_t joined = 0;
  for (std::size_t i = 0; i < m_buckets.size(); ++i) {
    if (m_buckets[i].tensors.size() > 1) joined = std::max(joined, m_buckets[i].floats());
    m_subjects.push_back(communicator.activity().lasting(m_buckets[i].label));
    m_posted[i].store(0, std::memory_order_relaxed);
    m_least[i].store(0, std::memory_order_relaxed);
  }
  m_joined.resize(joined);
  if (!m_buckets.empty()) m_thread = std::thread([this] { work(); });
}

GradientExchange::~GradientExchange() {
  m_ending.store(true, std::memory_order_release);
  m_signal.fetch_add(1, std::memory_order_release);
  m_signal.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

void GradientExchange::post(int bucket) {
  if (const auto& fetch = m_buckets[static_cast<std::size_t>(bucket)].fetch) fetch();
  m_posted[static_cast<std::size_t>(bucket)].store(m_step, std::memory_order_release);
  m_signal.fetch_add(1, std::memory_order_release);
  m_signal.notify_one();
}

void GradientExchange::postAll() {
  for (std::size_t i = 0; i < m_buckets.size(); ++i)
    if (m_posted[i].load(std::memory_order_relaxed) != m_step) post(static_cast<int>(i));
}

void GradientExchange::gather(std::span<const double> mine, std::span<double> all) {
  const auto begin = Trace::Clock::now();
  m_groups.front()->communicator->allGather(std::as_bytes(mine), std::as_writable_bytes(all));
  if (m_trace)
    m_trace->add(Trace::Lane::communication, "all-gather", "batch statistics", begin, Trace::Clock::now(),
                 static_cast<std::int64_t>(mine.size_bytes()));
}

RankGroup* GradientExchange::group(std::string_view name) {
  for (const auto& group : m_groups)
    if (group->ranks.name() == name) return &group->ranks;
  return nullptr;
}

void GradientExchange::addGroup(std::string name, std::unique_ptr<Communicator> communicator,
                                std::shared_ptr<StreamRanks> streams) {
  Communicator& ranks = *communicator;
  m_groups.push_back(std::make_unique<Group>(
      Group{std::move(communicator), CommunicatorGroup(ranks, std::move(name), m_trace, std::move(streams))}));
}

void GradientExchange::wait() {
  if (m_buckets.empty()) return;
  const auto reached = [this](std::uint32_t finished) { return static_cast<std::int32_t>(finished - m_step) >= 0; };
  for (std::uint32_t seen; !reached(seen = m_finished.load(std::memory_order_acquire));) {
    if (m_failed.load(std::memory_order_acquire)) break;
    m_finished.wait(seen, std::memory_order_acquire);
  }
  if (m_failed.load(std::memory_order_acquire)) std::rethrow_exception(m_fault);
  ++m_step;
  for (const Bucket& bucket : m_buckets)
    if (bucket.deliver) bucket.deliver();
}

void GradientExchange::work() {
  try {
    for (std::uint32_t step = 1;; ++step) {
      for (std::size_t i = 0; i < m_buckets.size(); ++i) {
        for (;;) {
          const std::uint32_t signal = m_signal.load(std::memory_order_acquire);
          if (m_ending.load(std::memory_order_acquire)) return;
          if (m_posted[i].load(std::memory_order_acquire) == step) break;
          m_signal.wait(signal, std::memory_order_acquire);
        }
        exchange(i);
      }
      m_finished.store(step, std::memory_order_release);
      m_finished.notify_all();
    }
  } catch (...) {
    m_fault = std::current_exception();
    m_failed.store(true, std::memory_order_release);
    m_finished.fetch_sub(1, std::memory_order_release);  // any change wakes who waits
    m_finished.notify_all();
  }
}

void GradientExchange::exchange(std::size_t index) {
  Bucket& bucket = m_buckets[index];
  const auto begin = Trace::Clock::now();
  CollectiveActivity& activity = m_communicator.activity();
  activity.subject.store(m_subjects[index], std::memory_order_relaxed);
  const auto add = [&](std::span<float> sum) { activity.during("all-reduce", [&] { bucket.reduction->finish(sum); }); };
  std::size_t floats = 0;
  if (bucket.tensors.size() == 1) {
    floats = bucket.tensors[0].size();
    add(bucket.tensors[0]);
  } else {
    for (const std::span<float>& tensor : bucket.tensors) {
      std::memcpy(m_joined.data() + floats, tensor.data(), tensor.size_bytes());
      floats += tensor.size();
    }
    add(std::span(m_joined).first(floats));
    floats = 0;
    for (const std::span<float>& tensor : bucket.tensors) {
      std::memcpy(tensor.data(), m_joined.data() + floats, tensor.size_bytes());
      floats += tensor.size();
    }
  }
  const auto end = Trace::Clock::now();
  const double taken = std::chrono::duration<double>(end - begin).count(), least = leastSeconds(index);
  if (least == 0 || taken < least) m_least[index].store(taken, std::memory_order_relaxed);
  if (m_trace && !m_trace->full())
    m_trace->add(Trace::Lane::communication, "all-reduce", m_subjects[index], begin, end,
                 static_cast<std::int64_t>(floats * (bucket.wire == Wire::f32 ? 4 : 2)));
}

}  // namespace loom
