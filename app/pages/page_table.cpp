#include "app/pages/page_table.h"

#include "app/pages/data/data_page.h"
#include "app/pages/hosts/hosts_page.h"
#include "app/pages/network/network_page.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/search/search_page.h"
#include "app/pages/settings/settings_page.h"
#include "app/pages/start/start_page.h"
#include "app/pages/training/training_page.h"

namespace loom {
namespace {

template <class T>
Page* make(AppContext& context, QWidget* parent) {
  return new T(context, parent);
}

constexpr PageEntry kPages[] = {
    {"start", QT_TRANSLATE_NOOP("pages", "Start"), "start", "Ctrl+0", false, false, false, &make<StartPage>},
    {"network", QT_TRANSLATE_NOOP("pages", "Network"), "network", "Ctrl+1", true, true, true, &make<NetworkPage>},
    {"data", QT_TRANSLATE_NOOP("pages", "Data"), "data", "Ctrl+2", true, true, false, &make<DataPage>},
    {"settings", QT_TRANSLATE_NOOP("pages", "Settings"), "settings", "Ctrl+3", true, true, true, &make<SettingsPage>},
    {"training", QT_TRANSLATE_NOOP("pages", "Training"), "training", "Ctrl+4", true, true, false, &make<TrainingPage>},
    {"runs", QT_TRANSLATE_NOOP("pages", "Runs"), "runs", "Ctrl+5", true, true, false, &make<RunsPage>},
    {"trials", QT_TRANSLATE_NOOP("pages", "Search over settings"), "search", "Ctrl+7", true, false, false,
     &make<SearchPage>},
    {"hosts", QT_TRANSLATE_NOOP("pages", "Hosts"), "hosts", "Ctrl+6", false, true, false, &make<HostsPage>},
};

}  // namespace

std::span<const PageEntry> pageTable() {
  return kPages;
}

const PageEntry* findPage(const QString& id) {
  for (const PageEntry& each : kPages)
    if (id == QLatin1String(each.id)) return &each;
  return nullptr;
}

}  // namespace loom
