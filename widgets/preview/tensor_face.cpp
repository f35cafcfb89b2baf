#include "widgets/preview/tensor_face.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kColumns = 4, kTilesAtOnce = 8, kTileGap = 8;
constexpr int kLateMs = 150;
constexpr double kLoneTile = 128;  // the height of a picture by itself
constexpr double kValueBars = 64;  // height of the bars of a vector
constexpr double kHistogram = 40, kCaption = 18, kFigures = 36, kGap = 8;

// From nothing to much, on the ground on which it is painted.
QColor between(const QColor& low, const QColor& high, double share) {
  const auto mix = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
  return QColor(mix(low.red(), high.red()), mix(low.green(), high.green()), mix(low.blue(), high.blue()));
}

QString countOf(std::int64_t value) {
  return formatCount(static_cast<double>(value));
}

QString numberOf(const TensorSummary& tensor, double value) {
  return tensor.whole && value == std::round(value) ? formatFixed(value, 0) : formatShort(value);
}

}  // namespace

TensorFace::TensorFace(QWidget* parent)
    : QWidget(parent),
      m_next(new Button({}, ButtonKind::link, this)),
      m_start(new Button(tr("Show where it starts"), ButtonKind::link, this)) {
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(tr("Values"));
  m_next->setObjectName(QStringLiteral("tensorNext"));
  m_next->hide();
  connect(m_next, &Button::clicked, this, &TensorFace::showNext);
  m_start->setObjectName(QStringLiteral("tensorStart"));
  m_start->hide();
  connect(m_start, &Button::clicked, this, &TensorFace::startWanted);
  m_late.setSingleShot(true);
  m_late.setInterval(kLateMs);
  connect(&m_late, &QTimer::timeout, this, [this] {
    m_grey = true;
    update();
  });
  connect(&Theme::of(this), &Theme::changed, this, &TensorFace::renew);
}

void TensorFace::setTensor(const TensorSummary& tensor) {
  m_tensor = tensor;
  m_sentence.clear();
  m_loading = false;
  m_first = 0;
  renew();
}

void TensorFace::setLoading(const std::optional<Shape>& shape, const QString& words) {
  if (!m_loading) {
    m_grey = false;
    m_late.start();
  }
  m_loading = true;
  m_sentence.clear();
  m_words = words;
  m_tensor.reset();
  if (shape && shape->rank() >= 2 && (*shape)[-1] > 1 && (*shape)[-2] > 1) {
    // The room that its pictures will take.
    TensorSummary awaited;
    awaited.shape = *shape;
    awaited.channels = shape->elements() / ((*shape)[-1] * (*shape)[-2]);
    awaited.tiles = static_cast<int>(std::min<std::int64_t>(awaited.channels, TensorSummary::kMostTiles));
    awaited.tileHeight = static_cast<int>(std::min<std::int64_t>((*shape)[-2], TensorSummary::kLongestEdge));
    awaited.tileWidth = static_cast<int>(std::min<std::int64_t>((*shape)[-1], TensorSummary::kLongestEdge));
    m_tensor = std::move(awaited);
  }
  m_first = 0;
  renew();
}

void TensorFace::setSentence(const QString& sentence) {
  m_sentence = sentence;
  m_loading = false;
  m_tensor.reset();
  renew();
}

void TensorFace::clear() {
  setSentence({});
}

void TensorFace::showNext() {
  if (!m_tensor || m_tensor->tiles <= kTilesAtOnce) return;
  m_first = m_first + kTilesAtOnce < m_tensor->tiles ? m_first + kTilesAtOnce : 0;
  arrange();
  update();
}

void TensorFace::renew() {
  if (!m_loading) m_late.stop();
  setAccessibleDescription(spoken());
  updateGeometry();
  arrange();
  update();
  Q_EMIT heightChanged();
}

TensorFace::Grid TensorFace::grid(double width) const {
  Grid grid;
  if (!m_tensor || m_tensor->tiles == 0) return grid;
  grid.tiles = std::min(kTilesAtOnce, m_tensor->tiles);
  grid.columns = std::min(kColumns, grid.tiles);
  const double shape = static_cast<double>(m_tensor->tileHeight) / m_tensor->tileWidth;
  if (grid.tiles == 1) {
    grid.height = std::clamp(width * shape, 24.0, kLoneTile);
    grid.width = std::min(width, std::max(24.0, grid.height / shape));
  } else {
    grid.width = (width - (kColumns - 1) * kTileGap) / kColumns;
    grid.height = std::clamp(grid.width * shape, 12.0, 1.5 * grid.width);
  }
  return grid;
}

double TensorFace::picturesHeight(double width) const {
  const Grid tiles = grid(width);
  if (tiles.tiles == 0) return kValueBars + kCaption;
  const int rows = (tiles.tiles + tiles.columns - 1) / tiles.columns;
  return rows * tiles.height + (rows - 1) * kTileGap + kCaption;
}

int TensorFace::heightForWidth(int width) const {
  if (!m_sentence.isEmpty()) {
    const QFontMetrics metrics(Theme::of(this).font(FontRole::label));
    return metrics.boundingRect(QRect(0, 0, width, 10000), Qt::TextWordWrap, m_sentence).height() + 4;
  }
  if (!m_loading && !m_tensor) return 0;
  const bool bins = m_loading || showsBins();
  return static_cast<int>(std::ceil(picturesHeight(width) + (bins ? kGap + kHistogram + kCaption : 0) + kGap +
                                    kFigures + (isFaulty() ? 2 * kCaption : 0)));
}

// Where every value has its bar there is nothing to gather.
bool TensorFace::showsBins() const {
  const bool allShown = m_tensor->tiles == 0 && static_cast<std::int64_t>(m_tensor->first.size()) == m_tensor->values;
  return !m_tensor->bins.empty() && !allShown;
}

QSize TensorFace::sizeHint() const {
  return {222, heightForWidth(width() > 40 ? width() : 222)};
}

void TensorFace::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

void TensorFace::arrange() {
  m_start->setVisible(isFaulty() && m_sentence.isEmpty());
  m_start->setGeometry(0, height() - static_cast<int>(kCaption), m_start->sizeHint().width(),
                       static_cast<int>(kCaption));
  const bool more = !m_loading && m_tensor && m_tensor->tiles > kTilesAtOnce;
  m_next->setVisible(more);
  if (!more) return;
  const int left = m_tensor->tiles - m_first - kTilesAtOnce;
  m_next->setText(left > 0 ? tr("Next %1").arg(std::min(left, kTilesAtOnce)) : tr("First %1").arg(kTilesAtOnce));
  m_next->adjustSize();
  const int height = static_cast<int>(kCaption);
  m_next->setGeometry(width() - m_next->sizeHint().width(), static_cast<int>(picturesHeight(width())) - height,
                      m_next->sizeHint().width(), height);
}

QImage TensorFace::picture(int tile) const {
  const TensorSummary& tensor = *m_tensor;
  const Theme& theme = Theme::of(this);
  const QColor low = theme.colour(theme.isDark() ? Colour::sunken : Colour::surface),
               high = theme.colour(theme.isDark() ? Colour::accentText : Colour::accentPress);
  std::array<QRgb, 256> colours{};
  for (std::size_t i = 0; i < 255; ++i) colours[i] = between(low, high, static_cast<double>(i) / 254).rgb();
  colours[TensorSummary::kNotFinite] = theme.colour(Colour::error).rgb();
  QImage image(tensor.tileWidth, tensor.tileHeight, QImage::Format_RGB32);
  const std::uint8_t* pixel = tensor.pixels.data() + static_cast<std::size_t>(tile) *
                                                         static_cast<std::size_t>(tensor.tileWidth * tensor.tileHeight);
  for (int y = 0; y < tensor.tileHeight; ++y)
    for (int x = 0; x < tensor.tileWidth; ++x) image.setPixel(x, y, colours[*pixel++]);
  return image;
}

QString TensorFace::pictureWords() const {
  const TensorSummary& tensor = *m_tensor;
  if (tensor.tiles > 0) {
    if (tensor.channels == 1) return tr("%1 of %2, one picture").arg(tensor.tileHeight).arg(tensor.tileWidth);
    const int last = std::min(m_first + kTilesAtOnce, tensor.tiles) - 1;
    return tr("Channels %1 to %2 of %3").arg(m_first).arg(last).arg(countOf(tensor.channels));
  }
  if (tensor.values == 1) return tr("One value");
  return static_cast<std::int64_t>(tensor.first.size()) == tensor.values
             ? tr("All %1 values").arg(countOf(tensor.values))
             : tr("The first %1 of %2 values").arg(tensor.first.size()).arg(countOf(tensor.values));
}

void TensorFace::paintTiles(QPainter& painter, double width) const {
  const Theme& theme = Theme::of(this);
  const Grid tiles = grid(width);
  const int shown = m_loading ? tiles.tiles : std::min(tiles.tiles, m_tensor->tiles - m_first);
  for (int i = 0; i < shown; ++i) {
    const QRectF tile((i % tiles.columns) * (tiles.width + kTileGap), (i / tiles.columns) * (tiles.height + kTileGap),
                      tiles.width, tiles.height);
    if (m_loading)
      painter.fillRect(tile, theme.colour(Colour::hover));
    else
      painter.drawImage(tile, picture(m_first + i));
    painter.setPen(theme.hairline(Colour::lineStrong));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(tile.adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

// The first values as bars from zero; a single one as a number.
void TensorFace::paintValues(QPainter& painter, double width) const {
  const Theme& theme = Theme::of(this);
  if (!m_tensor || m_loading) {
    painter.fillRect(QRectF(0, 0, width, kValueBars), theme.colour(Colour::hover));
    return;
  }
  const TensorSummary& tensor = *m_tensor;
  if (tensor.values == 1) {
    const float value = tensor.first.empty() ? 0 : tensor.first.front();
    painter.setFont(theme.numberFont(FontRole::figure));
    painter.setPen(theme.colour(std::isfinite(value) ? Colour::text : Colour::error));
    painter.drawText(QRectF(0, 0, width, kValueBars), Qt::AlignLeft | Qt::AlignVCenter, numberOf(tensor, value));
    return;
  }
  double low = 0, high = 0;
  for (const float value : tensor.first)
    if (std::isfinite(value))
      low = std::min(low, static_cast<double>(value)), high = std::max(high, static_cast<double>(value));
  if (low == high) high = 1;
  const double pitch = width / static_cast<double>(tensor.first.size()),
               bar = std::min(24.0, std::max(1.0, pitch - (pitch > 4 ? 2 : 0.5)));
  const auto y = [&](double value) { return kValueBars * (high - value) / (high - low); };
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(0, y(0)), QPointF(width, y(0)));
  for (std::size_t i = 0; i < tensor.first.size(); ++i) {
    const float value = tensor.first[i];
    const double x = (static_cast<double>(i) + 0.5) * pitch - bar / 2;
    const double top = std::isfinite(value) ? std::min(y(value), y(0)) : 0,
                 height = std::isfinite(value) ? std::abs(y(value) - y(0)) : kValueBars;
    painter.fillRect(QRectF(x, top, bar, std::max(height, 1.0)),
                     theme.colour(std::isfinite(value) ? Colour::accent : Colour::error));
  }
}

double TensorFace::paintHistogram(QPainter& painter, double top, double width) const {
  const Theme& theme = Theme::of(this);
  if (m_loading) {
    painter.fillRect(QRectF(0, top, width, kHistogram), theme.colour(Colour::hover));
    return top + kHistogram + kCaption;
  }
  const TensorSummary& tensor = *m_tensor;
  if (!showsBins()) return top - kGap;
  const auto most =
      static_cast<double>(std::max<std::int64_t>(1, *std::max_element(tensor.bins.begin(), tensor.bins.end())));
  const double pitch = width / static_cast<double>(tensor.bins.size());
  // The square root of the counts: few of something are still to be seen beside many.
  for (std::size_t i = 0; i < tensor.bins.size(); ++i) {
    const double height =
        tensor.bins[i] == 0 ? 0 : std::max(1.0, kHistogram * std::sqrt(static_cast<double>(tensor.bins[i]) / most));
    painter.fillRect(
        QRectF(static_cast<double>(i) * pitch, top + kHistogram - height, std::max(1.0, pitch - 1), height),
        theme.colour(Colour::accent));
  }
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(0, top + kHistogram), QPointF(width, top + kHistogram));
  const QRectF line(0, top + kHistogram + 2, width, kCaption - 2);
  painter.setPen(theme.colour(Colour::text3));
  painter.setFont(theme.numberFont(FontRole::wireLabel));
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   tensor.aboveZero ? QStringLiteral("0") : numberOf(tensor, tensor.low));
  painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, numberOf(tensor, tensor.high));
  painter.setFont(theme.font(FontRole::wireLabel));
  painter.drawText(line, Qt::AlignHCenter | Qt::AlignVCenter,
                   tensor.aboveZero ? tr("values above zero, root scale") : tr("all values, root scale"));
  return top + kHistogram + kCaption;
}

void TensorFace::paintFigures(QPainter& painter, double top, double width) const {
  const Theme& theme = Theme::of(this);
  const TensorSummary& tensor = *m_tensor;
  const auto share = [&](std::int64_t part) {
    return tensor.values > 0 ? static_cast<double>(part) / static_cast<double>(tensor.values) : 0;
  };
  const bool any = tensor.finite() > 0;
  const QString none = QStringLiteral("–");
  const std::pair<QString, QString> columns[] = {{tr("min"), any ? numberOf(tensor, tensor.least) : none},
                                                 {tr("mean"), any ? formatShort(tensor.mean) : none},
                                                 {tr("max"), any ? numberOf(tensor, tensor.greatest) : none},
                                                 {tr("zeros"), formatPercent(share(tensor.zeros), 1)}};
  const double step = width / 4;
  for (int i = 0; i < 4; ++i) {
    painter.setFont(theme.font(FontRole::caption));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(i * step, top, step, 16), Qt::AlignLeft | Qt::AlignVCenter, columns[i].first);
    painter.setFont(Theme::withWeight(theme.numberFont(FontRole::label), 500));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(QRectF(i * step, top + 17, step, 18), Qt::AlignLeft | Qt::AlignVCenter, columns[i].second);
  }
  if (tensor.nan + tensor.infinite == 0) return;
  QStringList words;
  if (tensor.nan > 0) words += tr("%1 NaN").arg(countOf(tensor.nan));
  if (tensor.infinite > 0) words += tr("%1 infinite").arg(countOf(tensor.infinite));
  painter.setFont(theme.font(FontRole::label));
  painter.setPen(theme.colour(Colour::error));
  painter.drawText(QRectF(0, top + kFigures, width, kCaption), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("%1; %2 finite").arg(words.join(QStringLiteral(", ")), formatPercent(share(tensor.finite()), 1)));
}

void TensorFace::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  const double width = this->width();
  if (!m_sentence.isEmpty()) {
    painter.setFont(theme.font(FontRole::label));
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(rect(), Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, m_sentence);
    return;
  }
  if ((m_loading && !m_grey) || (!m_loading && !m_tensor)) return;
  if (m_tensor && m_tensor->tiles > 0)
    paintTiles(painter, width);
  else
    paintValues(painter, width);
  const double pictures = picturesHeight(width);
  painter.setFont(theme.font(FontRole::label));
  painter.setPen(theme.colour(Colour::text3));
  const QRectF caption(0, pictures - kCaption + 2, width, kCaption - 2);
  painter.drawText(caption, Qt::AlignLeft | Qt::AlignVCenter,
                   m_loading ? (m_words.isEmpty() ? tr("Computing") : m_words) : pictureWords());
  const double below = paintHistogram(painter, pictures + kGap, width);
  if (!m_loading) paintFigures(painter, below + kGap, width);
}

QString TensorFace::spoken() const {
  if (!m_sentence.isEmpty()) return m_sentence;
  if (m_loading) return m_words.isEmpty() ? tr("Computing") : m_words;
  if (!m_tensor) return {};
  QStringList words{pictureWords()};
  if (m_tensor->finite() > 0)
    words += tr("min %1, mean %2, max %3")
                 .arg(numberOf(*m_tensor, m_tensor->least), formatShort(m_tensor->mean),
                      numberOf(*m_tensor, m_tensor->greatest));
  if (m_tensor->nan + m_tensor->infinite > 0)
    words += tr("%1 not finite").arg(countOf(m_tensor->nan + m_tensor->infinite));
  return words.join(QStringLiteral(", "));
}

}  // namespace loom
