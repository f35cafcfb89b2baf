#include "app/pages/training/rank_bars.h"

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kHigh = 56, kBetweenHosts = 8, kLeastBar = 3, kMostBar = 22;

}  // namespace

RankBars::RankBars(QWidget* parent) : QWidget(parent) {
  setObjectName("rank-bars");
  setAccessibleName(tr("What of a step each rank computes, exchanges and waits"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void RankBars::setShares(const RankShares& shares) {
  m_shares = shares;
  setAccessibleDescription(shares.words() + ' ' + shares.consequence());
  update();
}

int RankBars::lineHeight() const {
  return QFontMetrics(Theme::of(this).font(FontRole::caption)).height() + 3;
}

QSize RankBars::sizeHint() const {
  return {260, static_cast<int>(kHigh) + 3 * lineHeight() + 8};
}

// Ranks of a host side by side, hosts apart. More ranks than bars can stand there: of some that follow each other the
// slowest.
std::vector<RankBars::Bar> RankBars::bars() const {
  const auto& ranks = m_shares.ranks;
  if (ranks.empty()) return {};
  const auto count = static_cast<int>(ranks.size());
  int hosts = 1;
  for (int i = 1; i < count; ++i)
    hosts += ranks[static_cast<std::size_t>(i)].host != ranks[static_cast<std::size_t>(i) - 1].host;
  const double apart = hosts <= 16 ? kBetweenHosts : 0;
  const double room = width() - apart * (hosts <= 16 ? hosts - 1 : 0);
  const int most = std::max(1, static_cast<int>(room / kLeastBar));
  const int shown = std::min(count, most);
  const double wide = std::min(kMostBar, room / shown);
  std::vector<Bar> all;
  double left = 0;
  for (int i = 0; i < shown; ++i) {
    const int first = static_cast<int>(static_cast<std::int64_t>(i) * count / shown),
              behind = static_cast<int>(static_cast<std::int64_t>(i + 1) * count / shown);
    int rank = first;
    for (int k = first; k < behind; ++k)
      if (ranks[static_cast<std::size_t>(k)].own() > ranks[static_cast<std::size_t>(rank)].own()) rank = k;
    if (i > 0 && ranks[static_cast<std::size_t>(first)].host != ranks[static_cast<std::size_t>(first) - 1].host)
      left += apart;
    all.push_back({rank, QRectF(left, 0, std::max(1.0, wide - (wide > 5 ? 2 : 1)), kHigh)});
    left += wide;
  }
  return all;
}

QRectF RankBars::barOf(int rank) const {
  for (const Bar& bar : bars())
    if (bar.rank == rank) return bar.place;
  return {};
}

void RankBars::paintEvent(QPaintEvent*) {
  const std::vector<Bar> all = bars();
  if (all.empty()) return;
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setPen(Qt::NoPen);
  double most = 0;
  for (const RankShare& each : m_shares.ranks) most = std::max(most, each.whole());
  const int slowest = m_shares.hasLaggard() ? m_shares.slowest() : -1;
  for (const Bar& bar : all) {
    const RankShare& share = m_shares.ranks[static_cast<std::size_t>(bar.rank)];
    const double scale = most > 0 ? kHigh / most : 0;
    double foot = kHigh;
    const auto part = [&](double ms, const QColor& colour) {
      const double high = ms * scale;
      painter.fillRect(QRectF(bar.place.left(), foot - high, bar.place.width(), high), colour);
      foot -= high;
    };
    part(share.computing, bar.rank == slowest ? theme.colour(Colour::warning) : theme.palette().compute);
    part(share.data, theme.palette().dataWait);
    part(share.exchanging, theme.palette().allReduce);
    part(share.waiting, theme.colour(Colour::lineStrong));
  }
  // Hosts below their bars, where their names have room.
  painter.setFont(theme.font(FontRole::caption));
  painter.setPen(theme.colour(Colour::text3));
  for (std::size_t i = 0; i < all.size();) {
    std::size_t last = i;
    const QString& host = m_shares.ranks[static_cast<std::size_t>(all[i].rank)].host;
    while (last + 1 < all.size() && m_shares.ranks[static_cast<std::size_t>(all[last + 1].rank)].host == host) ++last;
    const double left = all[i].place.left() - 2;
    const double right = last + 1 < all.size() ? all[last + 1].place.left() - 2 : width();
    const bool roomy = painter.fontMetrics().horizontalAdvance(host) <= right - left;
    if (roomy || all[last].place.right() - left >= 36)
      painter.drawText(QRectF(left + 2, kHigh + 2, right - left, lineHeight()), Qt::AlignLeft | Qt::AlignVCenter,
                       painter.fontMetrics().elidedText(host, Qt::ElideMiddle, static_cast<int>(right - left)));
    i = last + 1;
  }
  paintLegend(painter, kHigh + lineHeight() + 6);
}

void RankBars::paintLegend(QPainter& painter, double top) const {
  const Theme& theme = Theme::of(this);
  double computing = 0, exchanging = 0, waiting = 0, data = 0;
  for (const RankShare& each : m_shares.ranks)
    computing += each.computing, exchanging += each.exchanging, waiting += each.waiting, data += each.data;
  const double all = computing + exchanging + waiting + data;
  const std::tuple<QString, double, QColor> parts[] = {{tr("computing"), computing, theme.palette().compute},
                                                       {tr("exchanging"), exchanging, theme.palette().allReduce},
                                                       {tr("waiting"), waiting, theme.colour(Colour::lineStrong)},
                                                       {tr("data"), data, theme.palette().dataWait}};
  const double column = width() / 2.0;
  for (int i = 0; i < 4; ++i) {
    const auto& [name, part, colour] = parts[i];
    const QRectF line(i % 2 * column, top + i / 2 * lineHeight(), column, lineHeight());
    painter.setPen(Qt::NoPen);
    painter.fillRect(QRectF(line.left(), line.center().y() - 5, 8, 10), colour);
    painter.setFont(theme.font(FontRole::caption));
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(line.adjusted(14, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, name);
    painter.setFont(theme.numberFont(FontRole::caption));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(line.adjusted(0, 0, i % 2 == 0 ? -16 : 0, 0), Qt::AlignRight | Qt::AlignVCenter,
                     formatPercent(all > 0 ? part / all : 0, 0));
  }
}

bool RankBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  for (const Bar& bar : bars())
    if (bar.place.adjusted(-1, 0, 2, 0).contains(help->pos())) {
      QToolTip::showText(help->globalPos(), m_shares.wordsOf(bar.rank), this);
      return true;
    }
  QToolTip::hideText();
  return true;
}

RankCard::RankCard(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  auto* head = new QHBoxLayout;
  head->addWidget(makeLabel("section", tr("Ranks, share of a step")));
  head->addStretch();
  head->addWidget(m_count = makeLabel("hint"));
  column->addLayout(head);
  column->addWidget(m_bars = new RankBars);
  auto* said = new QHBoxLayout;
  said->setSpacing(8);
  said->addWidget(m_sign = new IconLabel("status-warning", Colour::warning, 14), 0, Qt::AlignTop);
  auto* words = new QVBoxLayout;
  words->setSpacing(1);
  words->addWidget(m_words = makeLabel("label", {}, nullptr, Wrap::yes));
  words->addWidget(m_consequence = makeLabel("hint", {}, nullptr, Wrap::yes));
  m_words->setObjectName("rank-words");
  m_consequence->setObjectName("rank-consequence");
  said->addLayout(words, 1);
  column->addLayout(said);
  setShares({});
}

void RankCard::setShares(const RankShares& shares) {
  const bool told = !shares.ranks.empty();
  m_bars->setShares(shares);
  m_bars->setVisible(told);
  m_count->setText(told ? formatCount(static_cast<double>(shares.ranks.size())) : QString());
  m_sign->setVisible(shares.hasLaggard());
  m_words->setText(shares.words());
  m_consequence->setText(shares.consequence());
  m_consequence->setVisible(told);
}

}  // namespace loom
