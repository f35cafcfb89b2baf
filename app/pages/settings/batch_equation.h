#pragma once
// Per rank x ranks x accumulation = global batch, always in sight and all editable. What is typed on the left makes the
// global batch; a typed global batch makes per rank, and says when it does not divide. The project keeps the global
// batch.
#include <QWidget>
#include <cstdint>
#include <string>
#include <vector>

class QLabel;

namespace loom {

class NumberField;

class BatchEquation : public QWidget {
  Q_OBJECT

 public:
  explicit BatchEquation(QWidget* parent = nullptr);
  void setValues(std::int64_t globalBatch, std::int64_t accumulation, std::int64_t ranks);
  // Beneath the batch of one rank and beneath the accumulation: what they cost.
  void setRanksNote(const QString& note);  // where the ranks are

  // What stands in its fields and is no whole number from 1 on: the name of the field, and what is wrong.
  struct Unread {
    QString label, problem;
    NumberField* field;
  };
  std::vector<Unread> unread() const;
  void takeBack();                              // such texts give way to the values
  bool focusField(const std::string& setting);  // the first such text, else the field; false for what is not here

 Q_SIGNALS:
  void unreadChanged();
  void edited(qint64 globalBatch, qint64 accumulation);
  void ranksEdited(qint64 ranks, qint64 globalBatch);

 private:
  void perRankTyped(double value);
  void accumulationTyped(double value);
  void globalTyped(double value);
  void ranksTyped(double value);
  std::int64_t perRank() const;  // what does not divide is rounded up: the last pass is then smaller
  void showNotes();

  std::int64_t m_global = 64, m_accumulation = 1, m_ranks = 1;
  bool m_setting = false;
  QString m_ranksNote;
  NumberField *m_perRankField, *m_ranksField, *m_accumulationField, *m_globalField;
  QLabel *m_perRankHint, *m_ranksHint, *m_accumulationHint, *m_globalHint;
};

}  // namespace loom
