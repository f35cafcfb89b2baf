#include "app/pages/data/preparation_preview.h"

#include <QPainter>
#include <algorithm>
#include <optional>

#include "app/pages/data/sample_picture.h"
#include "engine/base/error.h"
#include "engine/data/decode.h"
#include "engine/data/prepare.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kTimes = 8;  // where there is room
constexpr int kLabel = 18, kArrow = 34, kTileGap = 6;

std::optional<Sample> decoded(const std::filesystem::path& file) {
  if (file.empty()) return {};
  try {
    Sample sample;
    std::vector<std::byte> scratch;
    decodeFile(file, sample, scratch);
    return sample;
  } catch (const Error&) {
    return {};  // gone since it was read: the dataset still has it
  }
}

}  // namespace

PreparationPreview::PreparationPreview(QWidget* parent) : QWidget(parent), m_task(std::make_unique<NewestTask>()) {
  setAccessibleName(QStringLiteral("A sample before and after preparation"));
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void PreparationPreview::setSample(PreparedSample sample) {
  if (sample.dataset != m_sample.dataset) m_task = std::make_unique<NewestTask>();
  m_sample = std::move(sample);
  if (!m_measuring) refresh();
}

void PreparationPreview::setSteps(std::vector<Json> steps) {
  m_steps = std::move(steps);
  refresh();
}

void PreparationPreview::setMeasuring() {
  m_task->forget();
  m_shown.after.clear();
  m_measuring = true;
  update();
}

void PreparationPreview::refresh() {
  m_measuring = false;
  m_task->forget();
  if (!m_sample.dataset || m_sample.row < 0 || m_sample.row >= m_sample.dataset->size()) {
    take({});
    return;
  }
  m_task->ask([this, sample = m_sample, steps = m_steps](const std::atomic<bool>&) -> NewestTask::Answer {
    return [this, shown = prepared(sample, steps)] { take(shown); };
  });
}

void PreparationPreview::take(Shown shown) {
  const bool changed = shown.fault != m_shown.fault;
  m_shown = std::move(shown);
  if (changed) Q_EMIT faultChanged(m_shown.fault);
  update();
}

PreparationPreview::Shown PreparationPreview::prepared(const PreparedSample& sample, const std::vector<Json>& steps) {
  Shown shown;
  const auto& [dataset, row, file] = sample;
  // The first variable that is no scalar is what preparation works on.
  const auto& variables = dataset->schema().variables;
  auto found = std::find_if(variables.begin(), variables.end(),
                            [](const Variable& variable) { return variable.kind != VariableKind::scalar; });
  if (found == variables.end()) found = variables.begin();
  if (found == variables.end()) return shown;
  try {
    Shape shape;
    const auto raw = dataset->read(row, static_cast<std::size_t>(found - variables.begin()), &shape);
    if (const std::optional<Sample> own = decoded(file); own && own->kind == found->kind)
      shown.before = samplePicture(own->bytes, own->shape, own->type);
    else
      shown.before = samplePicture(raw, shape, found->type);
    shown.beforeText = sampleText(raw, shape, found->type, 3);
    LoaderOptions options;
    const Shape made = preparedShape(*found, steps);
    options.columns = {{found->name, made, DataType::f32}};
    options.prepare = steps;
    options.shuffle = false;
    options.prefetch = 1;
    const auto loader = makeLoader(selectRows(dataset, row, 1), options);
    // Scaled and normalised pictures are shown as they were: what crops, flips and borders do is to be seen.
    const Preparation preparation(*found, steps, false, 0);
    const PictureScale scale{preparation.scale(), preparation.shift(), found->type == DataType::u8};
    for (int time = 0; time < kTimes; ++time) {
      const Batch& batch = loader->next();
      shown.after.push_back(samplePicture(batch.columns[0], made, DataType::f32, scale));
      shown.afterTexts.push_back(sampleText(batch.columns[0], made, DataType::f32, 3));
    }
    const auto same = [](const auto& all) {
      return std::all_of(all.begin(), all.end(), [&](const auto& each) { return each == all.front(); });
    };
    // Where nothing is left to chance one tells all.
    if (same(shown.after) && same(shown.afterTexts)) shown.after.resize(1);
  } catch (const Error& error) {
    shown.fault = QString::fromStdString(error.message());
  }
  return shown;
}

int PreparationPreview::side() const {
  return std::clamp(height() - kLabel - 4, 32, 96);
}

int PreparationPreview::shownEpochs() const {
  return std::clamp((width() - side() - kArrow + kTileGap) / (side() + kTileGap), 0,
                    static_cast<int>(m_shown.after.size()));
}

void PreparationPreview::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  const int label = kLabel, side = this->side(), shown = shownEpochs();
  painter.setFont(theme.font(FontRole::caption));
  painter.setPen(theme.colour(Colour::text3));
  if (m_measuring) {
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter,
                     QStringLiteral("Mean and deviation are measured on the training set…"));
    return;
  }
  if (!m_shown.fault.isEmpty()) {
    painter.setPen(theme.colour(Colour::error));
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, m_shown.fault);
    return;
  }
  if (m_shown.after.empty()) {
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter,
                     QStringLiteral("Select a sample to see it before and after."));
    return;
  }
  painter.drawText(QRect(0, 0, side, label), Qt::AlignLeft, QStringLiteral("before"));
  painter.drawText(QRect(side + kArrow, 0, 400, label), Qt::AlignLeft,
                   shown == 1 ? QStringLiteral("after") : QStringLiteral("after, in %1 epochs").arg(shown));
  const auto tile = [&](int x, const QImage& image, const QString& text) {
    const QRect place(x, label, side, side);
    if (image.isNull()) {
      painter.setFont(theme.numberFont(FontRole::axis));
      painter.setPen(theme.colour(Colour::text2));
      painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, text);
      return;
    }
    const QSize size = image.size().scaled(place.size(), Qt::KeepAspectRatio);
    painter.setRenderHint(QPainter::SmoothPixmapTransform,
                          size.width() > 8 * image.width() || size.width() < image.width());
    painter.drawImage(QRect(place.topLeft(), size), image);
    painter.setPen(theme.hairline(Colour::lineStrong));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRect(place.topLeft(), size));
  };
  tile(0, m_shown.before, m_shown.beforeText);
  paintIcon(painter, QStringLiteral("arrow-right"), QRectF(side + 9, label + side / 2.0 - 8, 16, 16),
            theme.colour(Colour::text3));
  for (int i = 0; i < shown; ++i) {
    const auto at = static_cast<std::size_t>(i);
    tile(side + kArrow + i * (side + kTileGap), m_shown.after[at], m_shown.afterTexts[at]);
  }
}

}  // namespace loom
