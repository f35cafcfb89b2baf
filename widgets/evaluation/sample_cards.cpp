#include "widgets/evaluation/sample_cards.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kNarrowestCard = 172, kNarrowestRow = 300;  // with a picture, or with the columns of a row
constexpr int kSpace = 8, kPadding = 8, kPicture = 64, kRowGap = 20, kFacesKept = 2000;
constexpr int kMapPicture = 112, kNarrowestMap = 248;  // with a class for each place

}  // namespace

SampleCards::SampleCards(QWidget* parent) : QAbstractScrollArea(parent), m_faces(kFacesKept) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Samples, worst first"));
  viewport()->setAutoFillBackground(false);
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    layOut();
    viewport()->update();
  });
}

void SampleCards::setOutput(std::shared_ptr<const EvaluatedOutput> output) {
  m_output = std::move(output);
  forgetFaces();
  setPlaces({});
}

void SampleCards::setPlaces(std::vector<std::size_t> places) {
  m_places = std::move(places);
  verticalScrollBar()->setValue(0);
  layOut();
  m_current = -1;
  setCurrent(m_places.empty() ? -1 : 0);
  viewport()->update();
}

void SampleCards::setColumns(int columns) {
  m_columns = columns;
  layOut();
  viewport()->update();
}

void SampleCards::setFace(qint64 sample, SampleFace face) {
  m_asked.remove(sample);
  if (const SampleFace* const known = m_faces.object(sample)) {
    if (face.picture.isNull()) face.picture = known->picture;
    if (face.lines.isEmpty()) face.lines = known->lines;
    if (face.classes.isEmpty()) face.classes = known->classes;
  }
  m_faces.insert(sample, new SampleFace(face));
  if (const bool ofRows = face.picture.isNull() && !face.lines.isEmpty() && !ofMaps(); ofRows && !m_ofRows) {
    m_ofRows = true;
    layOut();
  }
  viewport()->update();
}

void SampleCards::setMaskLook(const MaskLook& look) {
  m_look = look;
  viewport()->update();
}

int SampleCards::cardOf(qint64 sample) const {
  const auto found = std::find_if(m_places.begin(), m_places.end(),
                                  [&](std::size_t place) { return m_output->worst[place].sample == sample; });
  return found == m_places.end() ? -1 : static_cast<int>(found - m_places.begin());
}

void SampleCards::forgetFaces() {
  m_faces.clear();
  m_asked.clear();
  m_ofRows = false;
  layOut();
  viewport()->update();
}

const EvaluatedSample* SampleCards::sample(int card) const {
  if (!m_output || card < 0 || card >= count()) return nullptr;
  return &m_output->worst[m_places[static_cast<std::size_t>(card)]];
}

const SampleFace* SampleCards::face(int card) const {
  const EvaluatedSample* const each = sample(card);
  return each ? m_faces.object(each->sample) : nullptr;
}

QString SampleCards::word(int index) const {
  return m_output && index >= 0 && index < static_cast<int>(m_output->words.size())
             ? QString::fromStdString(m_output->words[static_cast<std::size_t>(index)])
             : QString();
}

int SampleCards::columns() const {
  return m_columns > 0 ? m_columns : std::max(1, (viewport()->width() + kSpace) / (narrowest() + kSpace));
}

int SampleCards::narrowest() const {
  return ofMaps() ? kNarrowestMap : m_ofRows ? kNarrowestRow : kNarrowestCard;
}

int SampleCards::pictureSide() const {
  return ofMaps() ? kMapPicture : kPicture;
}

QSize SampleCards::cardSize() const {
  const int wide = (viewport()->width() - kSpace * (columns() - 1) - 4) / columns();
  const int line = QFontMetrics(Theme::of(this).numberFont(FontRole::label)).height() + 4;
  return {std::max(wide, 40), std::max(pictureSide() + 22, 4 * line) + 2 * kPadding};
}

QRect SampleCards::cardRect(int card) const {
  const QSize size = cardSize();
  const int row = card / columns(), column = card % columns();
  return {
      QPoint(2 + column * (size.width() + kSpace), 2 + row * (size.height() + kSpace) - verticalScrollBar()->value()),
      size};
}

int SampleCards::cardAt(const QPoint& position) const {
  const QSize size = cardSize();
  const int row = (position.y() - 2 + verticalScrollBar()->value()) / (size.height() + kSpace);
  const int column = (position.x() - 2) / (size.width() + kSpace);
  const int card = row * columns() + column;
  return column >= 0 && column < columns() && card < count() && cardRect(card).contains(position) ? card : -1;
}

void SampleCards::layOut() {
  const int rows = (count() + columns() - 1) / columns(), step = cardSize().height() + kSpace;
  verticalScrollBar()->setRange(0, std::max(0, rows * step + 2 - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(step / 2);
}

void SampleCards::askForFaces() {
  if (!m_output) return;
  QList<qint64> wanted;
  const int step = cardSize().height() + kSpace, first = verticalScrollBar()->value() / step * columns();
  const int shown = (viewport()->height() / step + 2) * columns();
  for (int card = first; card < std::min(count(), first + shown); ++card) {
    const qint64 each = sample(card)->sample;
    if (m_faces.contains(each) || m_asked.contains(each)) continue;
    m_asked.insert(each);
    wanted << each;
  }
  if (!wanted.isEmpty()) Q_EMIT facesWanted(wanted);
}

void SampleCards::setCurrent(int card) {
  card = std::clamp(card, count() > 0 ? 0 : -1, count() - 1);
  if (card == m_current) return;
  m_current = card;
  if (card >= 0) {
    const QRect rect = cardRect(card);
    if (rect.top() < 0) verticalScrollBar()->setValue(verticalScrollBar()->value() + rect.top() - 2);
    if (rect.bottom() > viewport()->height())
      verticalScrollBar()->setValue(verticalScrollBar()->value() + rect.bottom() - viewport()->height() + 2);
    setAccessibleDescription(words(card));
  }
  viewport()->update();
  Q_EMIT currentChanged(card);
}

QString SampleCards::words(int card) const {
  const EvaluatedSample* const each = sample(card);
  if (!each) return {};
  const QString row = tr("Row %1").arg(each->row + 1);
  if (!each->finite) return tr("%1\tnot a number").arg(row);
  if (ofMaps())
    return tr("%1\tIoU %2\tright %3\tloss %4")
        .arg(row, formatPercent(each->iou), formatPercent(each->rightShare), formatLoss(each->loss));
  if (m_output->kind == EvaluatedOutput::classes)
    return tr("%1\ttrue %2\tpredicted %3 with %4\tloss %5")
        .arg(row, word(each->truth), word(each->predicted), formatPercent(each->predictedShare),
             formatLoss(each->loss));
  return tr("%1\ttrue %2\tpredicted %3").arg(row, formatShort(each->trueValue), formatShort(each->predictedValue));
}

// Of a row without a picture: half of the card.
int SampleCards::rowWidth(int inner) const {
  return (inner - kRowGap) / 2;
}

// "age 31": the value stands whole at the right, its name has what is left.
void SampleCards::paintLines(QPainter& painter, const QStringList& lines, const QRect& rect) const {
  const Theme& theme = Theme::of(this);
  const QFont names = theme.font(FontRole::axis), values = theme.numberFont(FontRole::axis);
  const QFontMetrics name(names), value(values);
  for (int i = 0; i < lines.size() && (i + 1) * name.height() <= rect.height(); ++i) {
    const QRect at(rect.left(), rect.top() + i * name.height(), rect.width(), name.height());
    const QString number = lines[i].section(' ', -1);
    painter.setFont(values);
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(at, Qt::AlignRight | Qt::AlignVCenter, number);
    painter.setFont(names);
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter,
                     name.elidedText(lines[i].section(' ', 0, -2), Qt::ElideRight,
                                     rect.width() - value.horizontalAdvance(number) - 8));
  }
}

void SampleCards::paintCard(QPainter& painter, int card, const QRect& rect) const {
  const Theme& theme = Theme::of(this);
  const EvaluatedSample& each = *sample(card);
  const bool current = card == m_current;
  painter.setBrush(theme.colour(Colour::surface));
  painter.setPen(current ? QPen(theme.colour(hasFocus() ? Colour::focus : Colour::accentText), 2)
                         : theme.hairline(Colour::lineStrong));
  painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), theme.radius(Radius::card),
                          theme.radius(Radius::card));
  const QRect inner = rect.adjusted(kPadding, kPadding, -kPadding, -kPadding);
  const SampleFace* const face = m_faces.object(each.sample);
  const int side = pictureSide();
  const QRect picture(inner.topLeft(), QSize(side, side));
  const QFont caption = theme.numberFont(FontRole::axis);
  const QFontMetrics metrics(caption);
  painter.setFont(caption);
  if (face && ofMaps()) {
    paintMasked(painter, theme, face->picture, face->classes, m_look, picture);
  } else if (face && !face->picture.isNull()) {
    const QImage& image = face->picture;
    painter.setRenderHint(QPainter::SmoothPixmapTransform, image.width() > kPicture || image.height() > kPicture);
    const QSize drawn = image.size().scaled(picture.size(), Qt::KeepAspectRatio);
    painter.drawImage(QRect(picture.center() - QPoint(drawn.width() / 2, drawn.height() / 2), drawn), image);
  } else if (face) {
    paintLines(painter, face->lines, QRect(inner.topLeft(), QSize(rowWidth(inner.width()), kPicture + 4)));
  } else {
    painter.fillRect(picture, theme.colour(Colour::sunken));
  }
  painter.setPen(theme.colour(Colour::text3));
  painter.setFont(caption);
  painter.drawText(QRect(inner.left(), inner.bottom() - metrics.height() + 2, side + 20, metrics.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("#%1").arg(each.row + 1));
  const bool hasPicture = !face || !face->picture.isNull() || ofMaps();
  const int used = hasPicture ? side + 10 : rowWidth(inner.width()) + kRowGap;
  const QRectF text(inner.left() + used, inner.top(), inner.width() - used, inner.height());
  if (!each.finite) {
    painter.setFont(theme.font(FontRole::label));
    painter.setPen(theme.colour(Colour::error));
    painter.drawText(text, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, tr("What is said of it is not a number"));
    return;
  }
  if (ofMaps()) return paintMap(painter, each, text);
  m_output->kind == EvaluatedOutput::classes ? paintShares(painter, each, text) : paintNumbers(painter, each, text);
}

void SampleCards::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  if (!m_output) return;
  const int step = cardSize().height() + kSpace, first = verticalScrollBar()->value() / step * columns();
  for (int card = first; card < count(); ++card) {
    const QRect rect = cardRect(card);
    if (rect.top() > viewport()->height()) break;
    paintCard(painter, card, rect);
  }
  if (count() == 0) {
    const Theme& theme = Theme::of(this);
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(viewport()->rect().adjusted(8, 8, -8, -8), Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap,
                     tr("No sample is of this choice"));
  }
  askForFaces();
}

void SampleCards::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  layOut();
}

void SampleCards::scrollContentsBy(int, int) {
  viewport()->update();
}

void SampleCards::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const int card = cardAt(event->position().toPoint()); card >= 0) setCurrent(card);
}

void SampleCards::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const int card = cardAt(event->position().toPoint()); card >= 0) Q_EMIT activated(card);
}

void SampleCards::keyPressEvent(QKeyEvent* event) {
  const int page = std::max(1, viewport()->height() / (cardSize().height() + kSpace)) * columns();
  if (event->matches(QKeySequence::Copy)) return QApplication::clipboard()->setText(words(m_current));
  switch (event->key()) {
    case Qt::Key_Left:
      return setCurrent(m_current - 1);
    case Qt::Key_Right:
      return setCurrent(m_current + 1);
    case Qt::Key_Up:
      return setCurrent(std::max(m_current - columns(), m_current % std::max(columns(), 1)));
    case Qt::Key_Down:
      return setCurrent(m_current + columns());
    case Qt::Key_PageUp:
      return setCurrent(m_current - page);
    case Qt::Key_PageDown:
      return setCurrent(m_current + page);
    case Qt::Key_Home:
      return setCurrent(0);
    case Qt::Key_End:
      return setCurrent(count() - 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_current >= 0) Q_EMIT activated(m_current);
      return;
    default:
      return QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace loom
