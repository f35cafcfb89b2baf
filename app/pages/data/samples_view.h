#pragma once
// The samples of a dataset as rows or, for images, as a grid of pictures; Ctrl+wheel sizes the pictures. Its keys and
// its context menu are the page's commands of scope "data/samples".
#include <QStackedWidget>

class QContextMenuEvent;
class QKeyEvent;
class QListView;
class QTableView;

namespace loom {

class Commands;
class SamplesModel;

class SamplesView : public QStackedWidget {
  Q_OBJECT

 public:
  enum class Form { rows, grid };
  static constexpr int kPictureStep = 16;  // from one size to the next

  explicit SamplesView(SamplesModel* model, QWidget* parent = nullptr);

  Form form() const;
  void setForm(Form form);  // a dataset without pictures stays with rows
  bool hasPictures() const;
  void setCommands(Commands& commands) { m_commands = &commands; }
  int pictureSize() const { return m_pictureSize; }
  void setPictureSize(int size);  // 32 to 256 logical pixels
  void goToRow(int row);
  void goToCell(int row, int column);
  int firstRow() const;  // the topmost in sight; 0 in the grid
  int currentRow() const;
  int chosenColumn() const { return m_chosenColumn; }  // tinted over all rows; -1 = none
  void setChosenColumn(int column);                    // and scrolled to

 Q_SIGNALS:
  void rowChosen(int row);
  void columnChosen(int column);  // by a click on its head
  void formChanged();
  void moved();  // other rows are in sight

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void arrange();
  bool pressed(const QKeyEvent& event);
  void openMenu(const QContextMenuEvent& event);

  SamplesModel* m_model;
  Commands* m_commands = nullptr;
  QTableView* m_table;
  QListView* m_grid;
  int m_pictureSize = 32;
  int m_chosenColumn = -1;
};

}  // namespace loom
