#pragma once
// What somebody proposes to set, before it is taken: a row a field with before, after and where the value comes from.
// Not modal: the form stays beside it.
#include <QStringList>
#include <QWidget>
#include <vector>

#include "engine/network/presets.h"

class QGridLayout;
class QLabel;

namespace loom {

class Button;
class SegmentedControl;

class ChangesCard : public QWidget {
  Q_OBJECT

 public:
  explicit ChangesCard(QWidget* parent = nullptr);
  // `choices`: variants of the proposal, told by choiceChanged(); none where there is one.
  void setProposal(const QString& title, const QString& source, const std::vector<FieldChange>& changes,
                   const QStringList& notes);
  void setChoices(const QStringList& choices, int chosen);
  void setWaiting(const QString& title, const QString& words);  // nothing to take yet, or why there is nothing

 Q_SIGNALS:
  void taken();
  void closed();
  void choiceChanged(int choice);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void clear();
  QLabel *m_title, *m_source;
  SegmentedControl* m_choices;
  QWidget* m_rows;
  QGridLayout* m_grid;
  Button* m_take;
};

}  // namespace loom
