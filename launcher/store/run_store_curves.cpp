// Questions about curves, and how many of them stay in memory.
#include <QScopedValueRollback>
#include <algorithm>

#include "engine/base/error.h"
#include "launcher/store/database.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr std::size_t kMemory = 96u << 20;  // of loaded curves; what is above goes, least recently used first

}  // namespace

template <class Answer, class Question>
Answer RunStore::answer(const QString& id, Answer otherwise, const Question& question) const {
  Entry* const found = entry(id);
  if (!found) return otherwise;
  try {
    Answer said = question(data(*found));
    trim(*found);
    return said;
  } catch (const DatabaseBusy&) {
    return otherwise;
  } catch (const Error& error) {
    QMetaObject::invokeMethod(
        const_cast<RunStore*>(this),
        [self = const_cast<RunStore*>(this), error] { self->guarded([&] { throw error; }); }, Qt::QueuedConnection);
    return otherwise;
  }
}

std::vector<std::string> RunStore::seriesNames(const QString& id) const {
  return answer(id, std::vector<std::string>(), [](const RunData& data) { return data.names(); });
}

SeriesView RunStore::view(const QString& id, const std::string& name, Axis axis, SeriesRange range, int width) const {
  return answer(id, SeriesView(), [&](const RunData& data) { return data.view(name, axis, range, width); });
}

std::vector<SeriesPoint> RunStore::points(const QString& id, const std::string& name) const {
  return answer(id, std::vector<SeriesPoint>(), [&](const RunData& data) { return data.points(name); });
}

std::optional<SeriesPoint> RunStore::pointNear(const QString& id, const std::string& name, std::int64_t step) const {
  return answer(id, std::optional<SeriesPoint>(), [&](const RunData& data) { return data.pointNear(name, step); });
}

std::optional<double> RunStore::lastValue(const QString& id, const std::string& name) const {
  return answer(id, std::optional<double>(), [&](const RunData& data) { return data.lastValue(name); });
}

double RunStore::xOf(const QString& id, Axis axis, std::int64_t step) const {
  return answer(id, 0.0, [&](const RunData& data) { return data.xOf(axis, step); });
}

std::int64_t RunStore::stepOf(const QString& id, Axis axis, double x) const {
  return answer(id, std::int64_t{0}, [&](const RunData& data) { return data.stepOf(axis, x); });
}

void RunStore::ask(const QString& id, const CurveQuestion& question) const {
  answer(id, false, [&](const RunData& data) { return question(data), true; });
}

bool RunStore::askMemory(const QString& id, const CurveQuestion& question) const {
  Entry* const found = entry(id);
  if (!found) {
    question({});
    return true;
  }
  const QScopedValueRollback<bool> memoryAlone(m_memoryAlone, true);
  try {
    question(data(*found));
    return true;
  } catch (const NotInMemory&) {
    return false;
  }
}

std::function<void(const CurveQuestion&)> RunStore::reading(const QString& id) const {
  const Entry* const found = entry(id);
  if (!found || found->row == 0 || !m_reader) return {};
  return [reader = m_reader, row = found->row, version = found->version](const CurveQuestion& question) {
    reader->ask(row, version, question);
  };
}

std::int64_t RunStore::savedVersion(const QString& id) const {
  const Entry* const found = entry(id);
  return found ? found->version : 0;
}

bool RunStore::allSaved(const QString& id) const {
  const Entry* const found = entry(id);
  return !found || !found->dirty;
}

// What all have is known from what each had when it was touched last; all are counted only where that is too much.
void RunStore::trim(Entry& touched) const {
  const auto count = [this](Entry& entry) {
    m_bytes -= entry.bytes;
    entry.bytes = entry.data ? entry.data->bytes() : 0;
    m_bytes += entry.bytes;
  };
  count(touched);
  if (m_bytes <= kMemory) return;
  std::vector<Entry*> loaded;
  for (const auto& each : m_entries) {
    if (!each->data) continue;
    count(*each);
    loaded.push_back(each.get());
  }
  std::sort(loaded.begin(), loaded.end(), [](const Entry* a, const Entry* b) { return a->used < b->used; });
  for (Entry* each : loaded) {
    if (m_bytes <= kMemory / 2) break;
    each->data->dropClean();
    count(*each);
  }
}

}  // namespace loom
