// What leaves a panel: a picture (always light, so that it can be printed), a drawing, all points, the values at the
// cursor.
#include <QBuffer>
#include <QFileDialog>
#include <QFontMetrics>
#include <QImage>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <algorithm>
#include <exception>

#include "widgets/chart/chart_painter.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/expression.h"
#include "widgets/document/background.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kExportEdge = 12;  // around a picture
constexpr int kExportNames = 180,
              kExportValue = 100;  // room for names at the ends of lines, and for values behind them

QString quoted(QString text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
  return '"' + text.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

}  // namespace

QImage LineChart::toImage(QSize panel, double ratio) const {
  const QSize size = panel + 2 * QSize(kExportEdge, kExportEdge);
  QImage image(size * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  const Palette& light = Tokens::builtIn().light;
  image.fill(light[Colour::surface]);
  const auto copy = copyFor(panel);
  QPainter painter(&image);
  ChartPainter(*copy, light, false).paint(painter, QRectF(QPointF(kExportEdge, kExportEdge), QSizeF(panel)));
  return image;
}

bool LineChart::toSvg(const QString& file, QSize panel) const {
  const QSize size = panel + 2 * QSize(kExportEdge, kExportEdge);
  QSvgGenerator generator;
  generator.setFileName(file);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(), size));
  generator.setTitle(m_title);
  const Palette& light = Tokens::builtIn().light;
  const auto copy = copyFor(panel);
  QPainter painter;
  if (!painter.begin(&generator)) return false;
  painter.fillRect(QRect(QPoint(), size), light[Colour::surface]);
  ChartPainter(*copy, light, false).paint(painter, QRectF(QPointF(kExportEdge, kExportEdge), QSizeF(panel)));
  return painter.end();
}

// The same panel in another size, drawn from the same sources; it never comes onto the screen.
std::unique_ptr<LineChart> LineChart::copyFor(QSize size) const {
  auto copy = std::make_unique<LineChart>(m_axis);
  copy->takeFrom(*this);
  copy->resize(size);
  copy->read();
  copy->openRange();
  copy->draw(copy->plot().size().expandedTo(QSizeF(1, 1)));
  return copy;
}

void LineChart::takeFrom(const LineChart& other) {
  m_title = other.m_title;
  m_subtitle = other.m_subtitle;
  m_empty = other.m_empty;
  m_lines = other.m_lines;
  m_events = other.m_events;
  m_best = other.m_best;
  m_fixed = other.m_fixed;
  m_zoomedY = other.m_zoomedY;
  m_better = other.m_better;
  m_kind = other.m_kind;
  m_ends = other.m_ends;
  m_margins = other.m_margins;
  // Beside the panel another may name the lines; a picture stands by itself.
  if (m_ends == LineEnds::none) {
    m_ends = LineEnds::oneLine;
    const QFontMetrics text(Theme::of().font(FontRole::axis));
    int widest = 0;
    for (const PanelLine& line : m_lines)
      if (line.line.visible) widest = std::max(widest, text.horizontalAdvance(line.line.name));
    m_margins.right = std::max(m_margins.right, std::min(widest, kExportNames) + kExportValue);
  }
  setXNumbers(true);
  m_smoothing = other.m_smoothing;
  m_log = other.m_log;
  m_flags = other.m_flags;
  m_showAll = other.m_showAll;
}

QByteArray LineChart::csvHead(XUnit unit) {
  static const char* const kUnits[] = {"step", "epoch", "samples", "time", "seconds"};
  return QByteArray("line,") + kUnits[static_cast<int>(unit)] + ",value\n";
}

// Line by line of the panel: the text of one curve is in memory at a time.
std::function<bool(QIODevice&)> LineChart::csvWriter(const QString& chart) const {
  std::vector<std::pair<QString, std::function<ChartColumns()>>> lines;  // what rows begin with, all points
  const QString first = chart.isEmpty() ? QString() : quoted(chart) + ',';
  for (const PanelLine& line : m_lines)
    if (line.line.visible && line.line.source)
      lines.emplace_back(first + quoted(line.line.name) + ',', line.line.source->reader(m_axis->unit()));
  return [lines = std::move(lines)](QIODevice& out) {
    for (const auto& [begin, read] : lines) {
      QString text;
      for (const ChartColumn& column : read().columns)
        text += begin + shortestNumber(column.x) + ',' + shortestNumber(column.last) + '\n';
      if (out.write(text.toUtf8()) < 0) return false;
    }
    return true;
  };
}

QString LineChart::toCsv() const {
  QBuffer out;
  out.open(QIODevice::WriteOnly);
  out.write(csvHead(m_axis->unit()));
  csvWriter()(out);
  return QString::fromUtf8(out.data());
}

// A million points take their time: read and written beside the window's thread.
void LineChart::writeCsv(const QString& file) {
  Background<LineChart>(this).start(
      [file, write = csvWriter(), head = csvHead(m_axis->unit())](const Background<LineChart>& here) {
        bool written = false;
        try {
          QSaveFile out(file);
          written = out.open(QIODevice::WriteOnly) && out.write(head) > 0 && write(out) && out.commit();
        } catch (const std::exception&) {
          // Not written: that is told.
        }
        here.post([file, written](LineChart& chart) { Q_EMIT chart.exported(file, written); });
      });
}

QString LineChart::cursorValues() const {
  if (!m_axis->cursor()) return {};
  QStringList rows;
  for (const PanelLine& line : m_lines) {
    if (!line.line.visible) continue;
    if (const auto value = valueAt(line.line, line.data, *m_axis->cursor())) {
      rows << line.line.name + '\t' + shortestNumber(value->x) + '\t' + shortestNumber(value->value);
    }
  }
  return rows.join('\n');
}

void LineChart::exportTo(const QString& kind) {
  auto* dialog = new QFileDialog(window(), tr("Export %1").arg(m_title));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(kind);
  dialog->selectFile(m_title.toLower().replace(' ', '-') + '.' + kind);
  connect(dialog, &QFileDialog::fileSelected, this, [this, kind](const QString& file) {
    if (kind == QLatin1String("csv")) {
      writeCsv(file);
      return;
    }
    // A picture is as large as the panel, however many points there are.
    Q_EMIT exported(file, kind == QLatin1String("png") ? toImage(size()).save(file) : toSvg(file, size()));
  });
  dialog->open();
}

}  // namespace loom
