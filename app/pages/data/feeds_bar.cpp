#include "app/pages/data/feeds_bar.h"

#include <QHBoxLayout>
#include <QLabel>

#include "widgets/controls/button.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

FeedsBar::FeedsBar(QWidget* parent) : QWidget(parent), m_line(new FlowLayout(this, 6)) {
  setObjectName("feeds");
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void FeedsBar::setFeeds(const std::vector<FeedLine>& feeds, bool drawn) {
  if (feeds == m_feeds && m_drawn == static_cast<int>(drawn)) return;  // a button may be under a finger
  m_feeds = feeds;
  m_drawn = drawn;
  while (QLayoutItem* const item = m_line->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  const auto add = [this](QWidget* widget) {
    m_line->addWidget(widget);
    widget->show();
  };
  add(makeLabel("hint", tr("Feeds")));
  for (const FeedLine& feed : feeds) {
    const QString columns = feed.columns.empty() ? tr("nothing")
                            : feed.columns.size() == 1
                                ? QString::fromStdString(feed.columns.front())
                                : counted(static_cast<qint64>(feed.columns.size()), tr("columns"));
    auto* button =
        new Button(QStringLiteral("%1 \u2192 %2 (%3)").arg(columns, QString::fromStdString(feed.node), feed.shape),
                   ButtonKind::plain);
    button->setObjectName("feed-" + QString::fromStdString(feed.node));
    button->setIconName(feed.fault.isEmpty() ? QStringLiteral("check") : QStringLiteral("problems"));
    button->setIconColour(feed.fault.isEmpty() ? Colour::ok : Colour::error);
    QStringList names;
    for (const std::string& each : feed.columns) names << QString::fromStdString(each);
    button->setToolTip(feed.fault.isEmpty() ? names.join(QStringLiteral(", ")) : feed.fault);
    connect(
        button, &QPushButton::clicked, this, [this, feed] { Q_EMIT inputChosen(feed); }, Qt::QueuedConnection);
    add(button);
    if (feed.fault.isEmpty()) continue;
    add(makeLabel("error", feed.fault));
    if (feed.remedy.isEmpty()) continue;
    auto* mend = new Button(feed.remedy, ButtonKind::link);
    mend->setObjectName("mend-" + QString::fromStdString(feed.node));
    connect(
        mend, &QPushButton::clicked, this, [this, feed] { Q_EMIT remedyWanted(feed); }, Qt::QueuedConnection);
    add(mend);
  }
  if (!drawn) {
    add(makeLabel("hint", tr("nothing yet: no network is drawn.")));
    auto* draw = new Button(tr("Start from data"), ButtonKind::link);
    draw->setObjectName("feeds-draw");
    connect(draw, &QPushButton::clicked, this, &FeedsBar::drawingWanted, Qt::QueuedConnection);
    add(draw);
  }
  m_line->invalidate();
  updateGeometry();
}

}  // namespace loom
