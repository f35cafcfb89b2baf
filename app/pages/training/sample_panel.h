#pragma once
// One sample of an evaluation, opened: which places of it what was said hangs on (gradient, Grad-CAM, occlusion), and
// the values of any layer as pictures. It asks for what it shows by wanted(), and is told the answer; it takes the
// cards' place and gives it back on closed().
#include <QWidget>
#include <optional>

#include "engine/evaluation/output_evaluator.h"
#include "engine/program/tensor_summary.h"
#include "engine/run/sample_look.h"
#include "widgets/evaluation/sample_cards.h"

class QLabel;

namespace loom {

class Button;
class ChoiceField;
class MaskView;
class SaliencyView;
class SegmentedControl;
class ShareBars;
class TensorFace;

// What is to be computed, in the words of `loom look`.
struct LookWish {
  qint64 sample = 0;  // from 0
  QString method;     // "gradient", "grad-cam", "occlusion"
  QString of;         // a class's number; empty = what is said most
  QString layer;      // empty = the engine's choice
};

class SamplePanel : public QWidget {
  Q_OBJECT

 public:
  explicit SamplePanel(QWidget* parent = nullptr);
  void open(const EvaluatedOutput& output, const EvaluatedSample& sample, const SampleFace* face);
  void setFace(qint64 sample, const SampleFace& face);
  void setLook(const SampleLook& look, const TensorSummary& layer);
  void setFault(const QString& sentence);
  void setMaskLook(const MaskLook& look);
  void setPlace(int card, int of);  // among the cards: which steps there are

  LookWish wish() const;
  qint64 sample() const { return m_sample.sample; }
  bool waits() const { return m_waits; }
  const std::optional<SampleLook>& look() const { return m_look; }
  SaliencyView& saliency() { return *m_saliency; }
  MaskView& mask() { return *m_mask; }  // of an output that is a class for each place
  TensorFace& layer() { return *m_face; }
  QList<std::pair<QString, QImage>> pictures() const;  // on paper, by name

 Q_SIGNALS:
  void wanted();
  void closed();
  void stepWanted(int by);  // to the next sample, or the one before
  void dataWanted();        // where its row is
  void faceWanted(qint64 sample);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* makeHead();
  void ask();
  void fillClasses(const EvaluatedOutput& output);
  void fillLayers();
  void fillShares();
  void refresh();

  EvaluatedSample m_sample;
  QStringList m_words;
  std::optional<SampleLook> m_look;
  QString m_fault, m_layer;
  bool m_waits = false;
  bool m_chosen = false;  // the method, by a person
  QLabel *m_title, *m_said, *m_meaning, *m_layerShape;
  Button *m_back, *m_before, *m_next, *m_data;
  SegmentedControl* m_method;
  ChoiceField *m_of, *m_layers;
  MaskView* m_mask;
  SaliencyView* m_saliency;
  ShareBars* m_shares;
  TensorFace* m_face;
};

}  // namespace loom
