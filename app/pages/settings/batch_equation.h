#pragma once
// Per rank x ranks x accumulation = global batch, always in sight. What is typed on either side is solved for the other: the
// global batch gives way for per rank first, and says when it does not divide. The project keeps the global batch.
#include <QWidget>

#include <cstdint>

class QLabel;

namespace loom {

class NumberField;

class BatchEquation : public QWidget {
  Q_OBJECT

 public:
  explicit BatchEquation(QWidget* parent = nullptr);
  void setValues(std::int64_t globalBatch, std::int64_t accumulation, std::int64_t ranks);
  // Beneath the batch of one rank and beneath the accumulation: what they cost.
  void setNotes(const QString& perRank, const QString& globalBatch);

 Q_SIGNALS:
  void edited(qint64 globalBatch, qint64 accumulation);

 private:
  void perRankTyped(double value);
  void accumulationTyped(double value);
  void globalTyped(double value);
  void showNotes();

  std::int64_t m_global = 64, m_accumulation = 1, m_ranks = 1;
  QString m_perRankNote, m_globalNote;
  NumberField *m_perRankField, *m_accumulationField, *m_globalField;
  QLabel *m_ranksLabel, *m_perRankHint, *m_ranksHint, *m_accumulationHint, *m_globalHint;
};

}  // namespace loom
