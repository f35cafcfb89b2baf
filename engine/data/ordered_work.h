#pragma once
// Items that are read one after another, worked on by several threads, and taken in the order in which they were read:
// what comes of them never depends on the number of threads. Memory is bounded by that number.
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace loom {

template <class Item>
class OrderedWork {
 public:
  // `work` runs on `threads` threads, or on the calling one where they are fewer than two.
  OrderedWork(int threads, std::function<void(Item&)> work) : m_work(std::move(work)) {
    const int count = threads > 1 ? threads : 0;
    m_most = count > 0 ? static_cast<std::size_t>(count) * 2 + 1 : 1;
    for (int i = 0; i < count; ++i) m_threads.emplace_back([this] { loop(); });
  }
  ~OrderedWork() {
    {
      const std::lock_guard lock(m_mutex);
      m_ending = true;
      m_waiting.clear();
    }
    m_wake.notify_all();
    for (std::thread& thread : m_threads) thread.join();
  }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  // `next` fills an item (a new one, or one that was taken before) and is false at the end; `take` gets them in order.
  // Both run on the calling thread. What `work` throws is thrown when the item's turn comes; what `next` throws, when
  // all before it were taken.
  void run(const std::function<bool(Item&)>& next, const std::function<void(Item&)>& take) {
    std::deque<Place*> inOrder;
    std::vector<Place*> spare;
    std::exception_ptr readFailure;
    for (bool more = true; more || !inOrder.empty();) {
      while (more && inOrder.size() < m_most) {
        if (spare.empty()) {
          m_places.push_back(std::make_unique<Place>());
          spare.push_back(m_places.back().get());
        }
        Place* const place = spare.back();
        try {
          more = next(place->item);
        } catch (...) {
          readFailure = std::current_exception();
          more = false;
        }
        if (!more) break;
        spare.pop_back();
        submit(*place);
        inOrder.push_back(place);
      }
      if (inOrder.empty()) break;
      Place* const place = inOrder.front();
      {
        std::unique_lock lock(m_mutex);
        m_ready.wait(lock, [&] { return place->done; });
      }
      inOrder.pop_front();
      if (place->failure) std::rethrow_exception(place->failure);
      take(place->item);
      spare.push_back(place);
    }
    if (readFailure) std::rethrow_exception(readFailure);
  }

 private:
  struct Place {
    Item item;
    std::exception_ptr failure;
    bool done = false;
  };
  void workOn(Place& place) {
    try {
      m_work(place.item);
    } catch (...) {
      place.failure = std::current_exception();
    }
  }
  void submit(Place& place) {
    place.done = false;
    place.failure = nullptr;
    if (m_threads.empty()) {
      workOn(place);
      place.done = true;
      return;
    }
    {
      const std::lock_guard lock(m_mutex);
      m_waiting.push_back(&place);
    }
    m_wake.notify_one();
  }
  void loop() {
    for (;;) {
      Place* place = nullptr;
      {
        std::unique_lock lock(m_mutex);
        m_wake.wait(lock, [&] { return m_ending || !m_waiting.empty(); });
        if (m_ending) return;
        place = m_waiting.front();
        m_waiting.pop_front();
      }
      workOn(*place);
      {
        const std::lock_guard lock(m_mutex);
        place->done = true;
      }
      m_ready.notify_one();
    }
  }

  std::function<void(Item&)> m_work;
  std::size_t m_most = 1;
  std::vector<std::unique_ptr<Place>> m_places;
  std::mutex m_mutex;
  std::condition_variable m_wake, m_ready;
  std::deque<Place*> m_waiting;
  bool m_ending = false;
  std::vector<std::thread> m_threads;
};

}  // namespace loom
