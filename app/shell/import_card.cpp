#include "app/shell/import_card.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QLocale>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/controls/button.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

using Kind = ReportItem::Kind;
constexpr int kReportWidth = 720, kPlaceWidth = 220, kListHeight = 300;
constexpr std::size_t kMostItems = 2000;  // of a list that a person reads

QString wordOf(Kind kind) {
  switch (kind) {
    case Kind::translated:
      return ImportCard::tr("Translated");
    case Kind::converted:
      return ImportCard::tr("Converted");
    case Kind::ignored:
      return ImportCard::tr("Left out");
    case Kind::untranslatable:
      return ImportCard::tr("To do");
  }
  return {};
}

QString adviceOn(const ImportReport& report) {
  const std::size_t open = report.count(Kind::untranslatable);
  if (open == 0)
    return ImportCard::tr("All of it is here. It is a new project that is not saved yet; the file stays as it is.");
  return ImportCard::tr(
             "%1 to be done by hand: each line says what, a click leads there. It is a new project that is not saved "
             "yet; the file stays as it is.")
      .arg(counted(static_cast<qint64>(open), ImportCard::tr("things")));
}

}  // namespace

ImportCard::ImportCard(const QString& name, const ImportReport& report, const Project& project, QWidget* window)
    : Popover(window, Closes::byHand), m_list(new QListWidget) {
  std::vector<std::pair<QString, std::size_t>> counts;
  std::vector<Row> rows;
  for (const Kind kind : {Kind::untranslatable, Kind::converted, Kind::ignored, Kind::translated}) {
    if (const std::size_t count = report.count(kind)) counts.emplace_back(wordOf(kind), count);
    for (const ReportItem& item : report.items) {
      if (item.kind != kind) continue;
      Row row{wordOf(kind), QString::fromStdString(item.layer), QString::fromStdString(item.sentence), {}};
      if (!item.network.empty())
        row.place = QString::fromStdString(item.network) + (row.place.isEmpty() ? "" : " / ") + row.place;
      // The tab of the source may have another name here: the drawing that has the node.
      for (const auto* drawings : {&project.networks, &project.units})
        for (const Network& drawing : *drawings)
          if (!item.node.empty() && row.leads.node.isEmpty() && drawing.find(item.node))
            row.leads = {.page = QStringLiteral("network"),
                         .network = QString::fromStdString(drawing.name),
                         .node = QString::fromStdString(item.node)};
      if (item.layer.starts_with("dataset ")) row.leads.page = QStringLiteral("data");
      rows.push_back(std::move(row));
    }
  }
  build(tr("%1: what became of it").arg(name), adviceOn(report), counts, std::move(rows));
}

ImportCard::ImportCard(const LaidOver& weights, QWidget* window)
    : Popover(window, Closes::byHand), m_list(new QListWidget) {
  const Json& match = weights.match;
  const auto names = [&](const char* key) { return match.value(key, Json::array()); };
  std::vector<Row> rows;
  if (match.contains("doubt"))
    rows.push_back({tr("In doubt"), {}, QString::fromStdString(match["doubt"].get<std::string>()), {}});
  for (const Json& each : names("shape_differs"))
    rows.push_back({tr("Other shape"),
                    QString::fromStdString(each["parameter"].get<std::string>()),
                    tr("begins at random numbers: %1 has another shape")
                        .arg(QString::fromStdString(each["tensor"].get<std::string>())),
                    {}});
  for (const Json& each : names("missing"))
    rows.push_back({tr("Missing"),
                    QString::fromStdString(each.get<std::string>()),
                    tr("begins at random numbers: the file has none for it"),
                    {}});
  for (const Json& each : names("left_over"))
    rows.push_back(
        {tr("Left over"), QString::fromStdString(each.get<std::string>()), tr("of the file goes nowhere"), {}});
  const std::size_t matched = match.value("matched", std::size_t{0});
  build(tr("%1 over this network").arg(QFileInfo(weights.file).fileName()),
        matched ? tr("Training would begin with what is matched, and with random numbers elsewhere.")
                : tr("None of its tensors fits a weight of this network: it belongs to another one."),
        {{tr("Matched"), matched},
         {tr("Other shape"), names("shape_differs").size()},
         {tr("Missing"), names("missing").size()},
         {tr("Left over"), names("left_over").size()}},
        std::move(rows));
  if (!matched) return;
  auto* start = new Button(tr("Start from these weights"), ButtonKind::tinted);
  start->setObjectName("start-from-weights");
  auto* line = new QHBoxLayout;
  line->addStretch();
  line->addWidget(start);
  contentLayout()->addLayout(line);
  connect(start, &Button::clicked, this, [this, file = weights.file] {
    Q_EMIT startWanted(file);
    hide();
  });
}

void ImportCard::build(const QString& title, const QString& advice,
                       const std::vector<std::pair<QString, std::size_t>>& counts, std::vector<Row> rows) {
  setObjectName("import-card");
  setTitle(title);
  const int width = std::min(kReportWidth, parentWidget()->width() - 120);
  auto* said = makeLabel("hint", advice, nullptr, Wrap::yes);
  said->setFixedWidth(width);
  contentLayout()->addWidget(said);
  auto* figures = new QHBoxLayout;
  figures->setSpacing(28);
  for (const auto& [word, count] : counts) {
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    column->addWidget(makeLabel("number", QLocale().toString(static_cast<qlonglong>(count))));
    column->addWidget(makeLabel("caption", word));
    figures->addLayout(column);
  }
  figures->addStretch();
  contentLayout()->addLayout(figures);

  m_rows = std::move(rows);
  m_list->setObjectName("import-rows");
  m_list->setAccessibleName(title);
  m_list->setFixedWidth(width);
  m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setWordWrap(true);
  const Theme& theme = Theme::of(this);
  const int sentenceWidth = width - kPlaceWidth - 24 - 14 - 3 * 10 - 16;
  for (std::size_t i = 0; i < std::min(m_rows.size(), kMostItems); ++i) {
    const Row& row = m_rows[i];
    auto* line = new QWidget;
    auto* parts = new QHBoxLayout(line);
    parts->setContentsMargins(12, 4, 12, 4);
    parts->setSpacing(10);
    const bool open = row.kind == wordOf(Kind::untranslatable) || row.kind == tr("In doubt") ||
                      row.kind == tr("Other shape"),
               done = row.kind == wordOf(Kind::translated);
    parts->addWidget(new IconLabel(open   ? "status-warning"
                                   : done ? "check"
                                          : "info",
                                   open   ? Colour::warning
                                   : done ? Colour::ok
                                          : Colour::text3,
                                   14),
                     0, Qt::AlignTop);
    QLabel* const place = makeLabel("label");
    place->setText(place->fontMetrics().elidedText(row.place, Qt::ElideMiddle, kPlaceWidth));
    place->setFixedWidth(kPlaceWidth);
    place->setToolTip(row.place);
    parts->addWidget(place, 0, Qt::AlignTop);
    auto* sentence = makeLabel("", row.sentence, nullptr, Wrap::yes);
    sentence->setFixedWidth(sentenceWidth);
    parts->addWidget(sentence, 1, Qt::AlignTop);
    auto* item = new QListWidgetItem(m_list);
    item->setSizeHint({width - 20, std::max(theme.size(Size::tableRow), sentence->heightForWidth(sentenceWidth) + 10)});
    item->setData(Qt::AccessibleTextRole, row.kind + ", " + row.place + ": " + row.sentence);
    m_list->setItemWidget(item, line);
  }
  int height = 2;
  for (int i = 0; i < m_list->count() && height < kListHeight; ++i) height += m_list->sizeHintForRow(i);
  m_list->setFixedHeight(std::min({height, kListHeight, std::max(120, parentWidget()->height() - 300)}));
  m_list->setVisible(!m_rows.empty());
  contentLayout()->addWidget(m_list);
  const auto lead = [this](QListWidgetItem* item) {
    const Place place = m_rows[static_cast<std::size_t>(m_list->row(item))].leads;
    if (place.page.isEmpty()) return;
    hide();
    Q_EMIT wanted(place);
  };
  connect(m_list, &QListWidget::itemClicked, this, lead);
  connect(m_list, &QListWidget::itemActivated, this, lead);
}

void ImportCard::open(QWidget* window) {
  openOver(window);
  m_list->setCurrentRow(0);
  m_list->setFocus();
}

}  // namespace loom
