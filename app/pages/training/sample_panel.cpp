#include "app/pages/training/sample_panel.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/evaluation/mask_view.h"
#include "widgets/evaluation/saliency_view.h"
#include "widgets/preview/share_bars.h"
#include "widgets/preview/tensor_face.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr const char* kMethods[] = {"gradient", "grad-cam", "occlusion"};
constexpr int kGradient = 0, kGradCam = 1;
constexpr int kSharesShown = 5;
constexpr const char* kNetworksChoice = "";  // of classes: what is said most

QString textOfShape(const Shape& shape) {
  return QString::fromStdString(shape.toString());
}

}  // namespace

SamplePanel::SamplePanel(QWidget* parent) : QWidget(parent) {
  setObjectName("sample-panel");
  setFocusPolicy(Qt::StrongFocus);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(makeHead());
  m_method = new SegmentedControl({tr("Gradient"), tr("Grad-CAM"), tr("Occlusion")});
  m_method->setObjectName("look-method");
  m_method->setAccessibleName(tr("How the places that matter are found"));
  m_of = new ChoiceField;
  m_of->setObjectName("look-of");
  m_of->setPrefix(tr("For"));
  m_of->setAccessibleName(tr("For which class"));
  auto* const body = new QWidget;
  auto* const inside = new QVBoxLayout(body);
  inside->setContentsMargins(0, 0, 8, 8);
  inside->setSpacing(8);
  m_mask = new MaskView;
  m_mask->setObjectName("look-mask");
  inside->addWidget(m_mask);
  auto* const tools = new QWidget;
  auto* const row = new FlowLayout(tools, 8);
  row->addWidget(m_method);
  row->addWidget(m_of);
  inside->addWidget(tools);
  auto* const top = new QHBoxLayout;
  top->setSpacing(16);
  m_saliency = new SaliencyView;
  m_saliency->setObjectName("look-saliency");
  top->addWidget(m_saliency, 3);
  m_shares = new ShareBars;
  m_shares->setObjectName("look-shares");
  top->addWidget(m_shares, 2, Qt::AlignTop);
  inside->addLayout(top);
  m_meaning = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_meaning->setObjectName("look-meaning");
  inside->addWidget(m_meaning);
  inside->addWidget(hairline());
  auto* const layers = new QHBoxLayout;
  layers->setSpacing(10);
  m_layers = new ChoiceField;
  m_layers->setObjectName("look-layer");
  m_layers->setPrefix(tr("Layer"));
  m_layers->setAccessibleName(tr("The layer whose values are shown"));
  m_layerShape = makeLabel("number");
  layers->addWidget(m_layers);
  layers->addWidget(m_layerShape);
  layers->addStretch();
  inside->addLayout(layers);
  m_face = new TensorFace;
  m_face->setObjectName("look-face");
  inside->addWidget(m_face);
  inside->addStretch();
  auto* const scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(body);
  body->setAutoFillBackground(false);
  scroll->viewport()->setAutoFillBackground(false);
  column->addWidget(scroll, 1);

  connect(m_method, &SegmentedControl::currentChanged, this, [this] {
    m_chosen = true;
    ask();
  });
  connect(m_of, &QComboBox::activated, this, &SamplePanel::ask);
  connect(m_layers, &QComboBox::activated, this, [this](int index) {
    m_layer = m_layers->itemData(index).toString();
    ask();
  });
}

QWidget* SamplePanel::makeHead() {
  auto* const head = new QWidget;
  auto* const row = new QHBoxLayout(head);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  m_back = new Button("chevron-left", tr("Samples"), ButtonKind::outlined);
  m_back->setObjectName("look-back");
  m_title = makeLabel("heading");
  m_title->setObjectName("look-title");
  m_said = makeLabel("hint");
  m_said->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_data = new Button(tr("Open in Data"), ButtonKind::link);
  m_data->setObjectName("look-data");
  m_before = iconButton("chevron-up", tr("The sample before (Page Up)"));
  m_before->setObjectName("look-before");
  m_next = iconButton("chevron-down", tr("The next sample (Page Down)"));
  m_next->setObjectName("look-next");
  row->addWidget(m_back);
  row->addWidget(m_title);
  row->addWidget(m_said, 1);
  row->addWidget(m_data);
  row->addWidget(m_before);
  row->addWidget(m_next);
  connect(m_back, &Button::clicked, this, &SamplePanel::closed);
  connect(m_data, &Button::clicked, this, &SamplePanel::dataWanted);
  connect(m_before, &Button::clicked, this, [this] { Q_EMIT stepWanted(-1); });
  connect(m_next, &Button::clicked, this, [this] { Q_EMIT stepWanted(1); });
  return head;
}

void SamplePanel::open(const EvaluatedOutput& output, const EvaluatedSample& sample, const SampleFace* face) {
  const bool anew = m_words.isEmpty() || m_words.size() != static_cast<qsizetype>(output.words.size());
  m_sample = sample;
  m_words.clear();
  for (const std::string& each : output.words) m_words << QString::fromStdString(each);
  if (anew) m_layer.clear();
  fillClasses(output);
  m_title->setText(tr("Row %1").arg(formatCount(static_cast<double>(sample.row + 1))));
  const auto word = [this](std::int32_t of) { return m_words.value(of, QString::number(of)); };
  m_said->setText(
      !sample.finite ? tr("not a number")
      : output.kind == EvaluatedOutput::numbers
          ? tr("true %1, predicted %2").arg(formatShort(sample.trueValue), formatShort(sample.predictedValue))
      : output.isMap() ? tr("IoU %1, %2 right").arg(formatPercent(sample.iou, 1), formatPercent(sample.rightShare, 1))
                       : tr("true %1, predicted %2").arg(word(sample.truth), word(sample.predicted)));
  m_said->setToolTip(sample.finite ? tr("%1, loss %2").arg(m_said->text(), formatLoss(sample.loss)) : QString());
  m_look.reset();
  m_saliency->clearMap();
  m_saliency->setPicture(face ? face->picture : QImage(), face ? face->lines : QStringList());
  m_mask->setVisible(output.isMap());
  m_mask->setPicture(face ? face->picture : QImage());
  m_mask->setClasses(face ? face->classes : ClassMap(), m_words);
  if (!m_chosen) {
    const QSignalBlocker quiet(m_method);
    // Of a sample that was not seen yet it shows itself by the answer whether there are places.
    m_method->setCurrent(!face || !face->picture.isNull() ? kGradCam : kGradient);
  }
  m_shares->setShares({});
  if (!face) Q_EMIT faceWanted(sample.sample);
  ask();
}

void SamplePanel::setFace(qint64 sample, const SampleFace& face) {
  if (sample != m_sample.sample) return;
  m_saliency->setPicture(face.picture, face.lines);
  if (!face.picture.isNull()) m_mask->setPicture(face.picture);
  if (!face.classes.isEmpty()) m_mask->setClasses(face.classes, m_words);
}

void SamplePanel::setMaskLook(const MaskLook& look) {
  m_mask->setLook(look);
}

void SamplePanel::fillClasses(const EvaluatedOutput& output) {
  const QString before = m_of->currentData().toString();
  m_of->clear();
  m_of->setVisible(output.words.size() > 1);
  if (output.kind == EvaluatedOutput::classes) {
    m_of->addItem(tr("what is said"), QString::fromLatin1(kNetworksChoice));
    if (m_sample.truth >= 0)
      m_of->addItem(tr("%1, true").arg(m_words.value(m_sample.truth)), QString::number(m_sample.truth));
  }
  // A chance of two classes is one number of the network.
  const bool both = output.kind != EvaluatedOutput::classes || output.words.size() > 2;
  for (int i = 0; both && i < m_words.size(); ++i)
    if (output.kind != EvaluatedOutput::classes || i != m_sample.truth) m_of->addItem(m_words[i], QString::number(i));
  const int same = m_of->findData(before);
  m_of->setCurrentIndex(same >= 0 && !before.isEmpty() && output.kind != EvaluatedOutput::classes ? same : 0);
}

LookWish SamplePanel::wish() const {
  return {.sample = m_sample.sample,
          .method = QString::fromLatin1(kMethods[m_method->current()]),
          .of = m_of->currentData().toString(),
          .layer = m_layer};
}

void SamplePanel::ask() {
  m_waits = true;
  m_fault.clear();
  if (m_face->tensor())
    m_face->setLoading(m_face->tensor()->shape);
  else
    m_face->setLoading({});
  refresh();
  Q_EMIT wanted();
}

void SamplePanel::setFault(const QString& sentence) {
  m_waits = false;
  // What nobody chose is no fault of theirs: a network without places is looked at by its gradient.
  if (!m_chosen && m_method->current() == kGradCam) {
    const QSignalBlocker quiet(m_method);
    m_method->setCurrent(kGradient);
    return ask();
  }
  m_fault = sentence;
  m_saliency->clearMap();
  m_face->setSentence(tr("The values of the layers come with the places that matter"));
  refresh();
}

void SamplePanel::setLook(const SampleLook& look, const TensorSummary& layer) {
  m_waits = false;
  m_look = look;
  QStringList names;
  for (const std::string& each : look.names) names << QString::fromStdString(each);
  m_saliency->setMap(look.map, names);
  if (!look.classes.isEmpty()) m_mask->setClasses(look.classes, m_words);
  m_face->setTensor(layer);
  fillLayers();
  fillShares();
  refresh();
}

void SamplePanel::fillLayers() {
  const QSignalBlocker quiet(m_layers);
  m_layers->clear();
  for (const SampleLook::Layer& each : m_look->layers) {
    m_layers->addItem(QString::fromStdString(each.name), QString::fromStdString(each.name));
    if (each.name == m_look->layer) {
      m_layers->setCurrentIndex(m_layers->count() - 1);
      m_layerShape->setText(textOfShape(each.shape));
    }
  }
}

void SamplePanel::fillShares() {
  QList<ShareBars::Share> shares;
  const bool single = m_look->output.shape.elements() == static_cast<std::int64_t>(m_words.size());
  if (m_look->output.kind == OutputKind::classes && single)
    for (std::size_t i = 0; i < m_look->said.size(); ++i)
      shares << ShareBars::Share{m_words.value(static_cast<qsizetype>(i)), m_look->said[i],
                                 static_cast<int>(i) == m_sample.truth};
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  if (shares.size() > kSharesShown) shares.resize(kSharesShown);
  m_shares->setShares(shares, tr("true"));
  m_shares->setVisible(!shares.isEmpty());
}

void SamplePanel::refresh() {
  const bool computes = m_waits && !m_look;
  QString words = m_fault;
  if (computes) words = tr("Computing");
  if (words.isEmpty() && m_look) {
    const bool numbers = m_look->output.kind == OutputKind::numbers;
    const QString of =
        numbers ? (m_words.size() > 1 ? m_words.value(static_cast<qsizetype>(m_look->value))
                                      : QString::fromStdString(m_look->output.target))
                : m_words.value(static_cast<qsizetype>(m_look->classTold()), QString::number(m_look->classTold()));
    const QString layer = QString::fromStdString(m_look->layer);
    words = m_look->method == "grad-cam"
                ? tr("Where the channels of %1 speak for %2, each weighed by its mean slope.").arg(layer, of)
            : m_look->method == "occlusion"
                ? (numbers ? tr("By how much %1 is less when this place is set to 0.").arg(of)
                           : tr("How much of the share of %1 is lost when this place is "
                                "set to 0; below 0 it gains.")
                                 .arg(of))
            : m_look->map.height > 1
                ? tr("How fast the number of %1 changes with each place, before it becomes a share.").arg(of)
                : tr("How fast the number of %1 changes with each column as the network takes it.").arg(of);
    if (m_look->method == "grad-cam" && m_saliency->map().values.size() > 0 &&
        std::all_of(m_look->map.values.begin(), m_look->map.values.end(), [](float each) { return each == 0; }))
      words = tr("No place of %1 speaks for %2: all of it speaks against, or is silent.").arg(layer, of);
  }
  m_meaning->setText(words);
  setStyleProperty(m_meaning, "kind", m_fault.isEmpty() ? QStringLiteral("hint") : QStringLiteral("error"));
}

void SamplePanel::setPlace(int card, int of) {
  m_before->setEnabled(card > 0);
  m_next->setEnabled(card + 1 < of);
}

QList<std::pair<QString, QImage>> SamplePanel::pictures() const {
  QList<std::pair<QString, QImage>> pictures;
  if (!m_mask->classes().isEmpty())
    pictures << std::pair{QStringLiteral("sample-%1-classes").arg(m_sample.row + 1), m_mask->toImage(2)};
  if (!m_look || m_look->map.values.empty()) return pictures;
  const QString name = QStringLiteral("sample-%1-%2").arg(m_sample.row + 1).arg(QString::fromStdString(m_look->method));
  return pictures << std::pair{name, m_saliency->toImage(2)};
}

void SamplePanel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return Q_EMIT closed();
  if (event->key() == Qt::Key_PageUp && m_before->isEnabled()) return Q_EMIT stepWanted(-1);
  if (event->key() == Qt::Key_PageDown && m_next->isEnabled()) return Q_EMIT stepWanted(1);
  QWidget::keyPressEvent(event);
}

}  // namespace loom
