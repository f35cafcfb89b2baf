// The widgets of the Settings page; what they do stands in settings_page.cpp.
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/settings/batch_equation.h"
#include "app/pages/settings/changes_card.h"
#include "app/pages/settings/forecast_strip.h"
#include "app/pages/settings/noise_card.h"
#include "app/pages/settings/recipe_desk.h"
#include "app/pages/settings/run_cockpit.h"
#include "app/pages/settings/run_forecast.h"
#include "app/pages/settings/settings_page.h"
#include "app/pages/settings/update_form.h"
#include "app/setting_list.h"
#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/form/property_form.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

QFrame* panel() {
  auto* frame = new QFrame;
  frame->setProperty("kind", "panel");
  return frame;
}

// The section's name, and at the right how many of its settings differ from the default.
class SectionDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const int count = index.data(kCountRole).toInt();
    if (count == 0) return;
    const Theme& theme = Theme::of(option.widget);
    painter->setFont(theme.numberFont(FontRole::caption));
    painter->setPen(theme.colour(option.state & QStyle::State_Selected ? Colour::accentText : Colour::text3));
    painter->drawText(option.rect.adjusted(0, 0, -12, 0), Qt::AlignRight | Qt::AlignVCenter, QString::number(count));
  }
};

constexpr int kCrowded = 760;  // px at 100 % text
constexpr int kBandGap = 14, kBandRight = 20;

}  // namespace

QWidget* SettingsPage::makeBar() {
  auto* bar = panel();
  keepHeight(bar, Size::pageBar);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(20, 0, 20, 0);
  row->setSpacing(12);
  m_title = makeLabel("title", QStringLiteral("Settings"));
  keepWidth(m_title, 148);
  m_search = new SearchField(QStringLiteral("Search settings"), QStringLiteral("/"));
  m_search->setMinimumWidth(140);
  m_search->setMaximumWidth(240);
  m_differs = new Button(QStringLiteral("Differs from default"), ButtonKind::outlined);
  m_differs->setCheckable(true);
  m_differs->setObjectName("differs");
  m_search->setObjectName("settings-filter");
  m_updateChoice = new ChoiceField;
  m_updateChoice->setPrefix(QStringLiteral("Update"));
  m_updateChoice->setMinimumWidth(220);
  row->addWidget(m_title);
  row->addWidget(m_search, 1);
  row->addWidget(m_differs);
  row->addStretch();
  row->addWidget(m_updateChoice);
  m_recipes = new RecipeDesk(
      *context().document, *context().workspace,
      [this] {
        return RecipeDesk::Facts{m_index, ranks(), m_rows, m_cockpit->noise()->noise()};
      },
      this);
  m_recipes->presetField()->setMinimumWidth(180);
  row->addWidget(m_recipes->chooseButton());
  row->addWidget(m_recipes->presetField());
  return bar;
}

QWidget* SettingsPage::makeForms() {
  auto* inside = new QWidget;
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(20, 16, 20, 20);
  column->setSpacing(20);
  m_update = new UpdateForm(*context().document);
  column->addWidget(m_update);
  m_sections.push_back({QStringLiteral("Optimizer"), m_update->optimizerSection(), nullptr});
  m_sections.push_back({QStringLiteral("Schedule"), m_update->scheduleSection(), nullptr});

  for (const SettingSection& section : settingSections()) {
    std::vector<std::string> hidden;
    for (const Field& field : settingsEntry().fields)
      if (std::find(section.keys.begin(), section.keys.end(), field.key) == section.keys.end())
        hidden.push_back(field.key);
    auto* widget = new QWidget;
    auto* rows = new QVBoxLayout(widget);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(8);
    rows->addWidget(makeLabel("heading", section.title));
    auto* form = new PropertyForm(FormStyle::page);
    form->setHidden(hidden);
    form->setEntry(settingsEntry(), Json::object(), section.title);
    rows->addWidget(form);
    column->addWidget(widget);
    m_sections.push_back({section.title, widget, form});
    connect(form, &PropertyForm::edited, this, [this](const QString& key, const Json& value) {
      context().document->setSetting(key.toStdString(), value);
    });
    connect(form, &PropertyForm::changedCountChanged, this, [this] { refreshPlan(); });
  }
  m_none = new QWidget;
  m_none->setObjectName("settings-none");
  auto* none = new QVBoxLayout(m_none);
  none->setContentsMargins(0, 24, 0, 0);
  m_noneWords = makeLabel("hint");
  auto* showAll = new Button(QStringLiteral("Show all settings"), ButtonKind::link);
  none->addWidget(m_noneWords);
  none->addWidget(showAll, 0, Qt::AlignLeft);
  m_none->hide();
  connect(showAll, &Button::clicked, this, [this] {
    m_differs->setChecked(false);
    m_search->clear();
    m_search->setFocus(Qt::OtherFocusReason);
  });
  column->addWidget(m_none);
  column->addStretch(1);  // takes all that is left, so that no section grows a gap
  m_scroll = new QScrollArea;
  m_scroll->setWidget(inside);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->setMinimumWidth(360);
  inside->setMaximumWidth(556);
  return m_scroll;
}

// What a preset or an advice would set stands in the place of the cockpit until it is taken or left.
QWidget* SettingsPage::makeRight() {
  auto* right = panel();
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  auto* sheets = new QStackedWidget;
  m_cockpit = new RunCockpit(*context().document, *context().workspace);
  sheets->addWidget(m_cockpit);
  sheets->addWidget(m_recipes->card());
  column->addWidget(sheets);
  connect(m_recipes, &RecipeDesk::opened, sheets, [sheets] { sheets->setCurrentIndex(1); });
  connect(m_recipes, &RecipeDesk::closed, sheets, [sheets] { sheets->setCurrentIndex(0); });
  return right;
}

QWidget* SettingsPage::makeBand() {
  auto* band = panel();
  auto* bandColumn = new QVBoxLayout(band);
  bandColumn->setContentsMargins(0, 0, 0, 0);
  bandColumn->setSpacing(0);
  auto* bandRow = new QHBoxLayout;
  bandRow->setContentsMargins(0, 0, kBandRight, 0);
  bandRow->setSpacing(kBandGap);
  bandColumn->addLayout(bandRow);
  m_equation = new BatchEquation;
  m_facts = new QLabel;
  m_facts->setTextFormat(Qt::RichText);
  const auto restyle = [this] { keepFont(m_facts, FontRole::caption); };
  restyle();
  connect(&Theme::of(this), &Theme::changed, m_facts, restyle);
  bandRow->addWidget(m_equation, 1);
  bandRow->addWidget(m_facts);
  m_forecast = new ForecastStrip(*m_cockpit->forecast());
  bandRow->addWidget(m_forecast);
  m_forecastLine = new ForecastLine(*m_cockpit->forecast());
  bandColumn->addWidget(m_forecastLine);
  return band;
}

void SettingsPage::makeLayout() {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->setSpacing(0);
  outer->addWidget(makeBar());

  QWidget* const right = makeRight();  // what the band tells follows from there

  m_list = new QListWidget;
  m_list->setFrameShape(QFrame::NoFrame);
  keepWidth(m_list, 168);
  m_list->setAccessibleName(QStringLiteral("Sections"));
  m_list->setItemDelegate(new SectionDelegate(m_list));
  auto* forms = makeForms();
  for (const Section& section : m_sections) {
    new QListWidgetItem(section.title, m_list);
  }
  const auto keepRows = [this] {
    for (int row = 0; row < m_list->count(); ++row)
      m_list->item(row)->setSizeHint(QSize(0, Theme::of(this).size(Size::tableRow)));
  };
  keepRows();
  connect(&Theme::of(this), &Theme::changed, m_list, keepRows);
  m_listPanel = panel();
  auto* listLayout = new QVBoxLayout(m_listPanel);
  listLayout->setContentsMargins(8, 12, 8, 8);
  listLayout->addWidget(m_list);

  m_splitter = new QSplitter(Qt::Horizontal);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(forms);
  m_splitter->addWidget(right);
  m_splitter->setStretchFactor(1, 1);
  m_splitter->setSizes(m_beside);
  connect(m_splitter, &QSplitter::splitterMoved, this, [this] {
    if (m_splitter->orientation() == Qt::Horizontal) m_beside = m_splitter->sizes();
  });

  auto* main = new QWidget;
  auto* mainColumn = new QVBoxLayout(main);
  mainColumn->setContentsMargins(0, 0, 0, 0);
  mainColumn->setSpacing(0);
  mainColumn->addWidget(makeBand());
  mainColumn->addWidget(m_splitter, 1);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(m_listPanel);
  row->addWidget(main, 1);
  outer->addLayout(row, 1);
  connect(&Theme::of(this), &Theme::changed, this, &SettingsPage::makeRoom);
  connect(m_cockpit->forecast(), &RunForecast::changed, this, &SettingsPage::placeForecast);
}

// Large text in a small window: the name and the list of sections give way (the search finds them), and what the run
// will do stands below its settings.
void SettingsPage::makeRoom() {
  const bool crowded = width() * 100 / Theme::of(this).textSize() < kCrowded;
  m_title->setVisible(!crowded);
  m_listPanel->setVisible(!crowded);
  m_facts->setVisible(!crowded);
  placeForecast();
  const Qt::Orientation wanted = crowded ? Qt::Vertical : Qt::Horizontal;
  if (wanted == m_splitter->orientation()) return;
  m_splitter->setOrientation(wanted);
  m_splitter->widget(1)->setMinimumHeight(crowded ? 160 : 0);  // instead of all that it would like
  m_splitter->setSizes(crowded ? QList<int>{600, 400} : m_beside);
}

// Beside the equation and the facts where there is room, else as a line below them.
void SettingsPage::placeForecast() {
  const int list = m_listPanel->isHidden() ? 0 : m_listPanel->sizeHint().width();
  const int facts = m_facts->isHidden() ? 0 : m_facts->sizeHint().width() + kBandGap;
  const int room = width() - list - m_equation->minimumSizeHint().width() - facts - kBandGap - kBandRight;
  m_forecastLine->setVisible(m_forecast->placeIn(room) == 0);
}

void SettingsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  makeRoom();
}

}  // namespace loom
