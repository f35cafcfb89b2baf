#pragma once
// The rows of a dataset as a table: a column for the row number, one for each variable, and of a vector one for each of
// its numbers. Any number of rows. What is drawn is read beside the window's thread: a cell that is not there yet says
// kNotYet, and dataChanged() follows when it is. Of a file that cannot be opened the first rows as text.
#include <QAbstractTableModel>
#include <QCache>
#include <QImage>
#include <QSet>
#include <QTimer>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/check.h"
#include "engine/data/dataset.h"
#include "widgets/document/newest_task.h"

namespace loom {

// The beginning of a CSV as it stands.
struct TextRows {
  std::vector<std::string> header;
  std::vector<std::pair<std::int64_t, std::vector<std::string>>> rows;  // line, cells
};

class SamplesModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr const char* kNotYet = "\u2026";
  enum Role {
    picture = Qt::UserRole + 1,
    fault,
    number
  };  // QImage; QString: the finding that names this row; a number stands here

  explicit SamplesModel(QObject* parent = nullptr);

  void setDataset(std::shared_ptr<const Dataset> dataset);
  void setText(TextRows text);                                   // in place of a dataset
  void setReport(const CheckReport* report);                     // null = none
  void setClassNames(std::map<std::string, QStringList> names);  // by variable: "cat" beside label 3

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  bool isPicture(int column) const;
  bool isNumber(int column) const;  // one number a cell
  // The column of a variable, or of one number of a vector; -1 where it is not shown.
  int columnOf(const std::string& variable, int element) const;
  // The other way round: the number of a vector that stands in this column, else -1.
  int elementOf(int column) const;
  QString variableOf(int column) const;
  std::shared_ptr<const Dataset> dataset() const { return m_dataset; }
  // The model's row of a line of the CSV (the header is line 1), -1 where it is not shown.
  int rowOfLine(std::int64_t line) const;
  qsizetype pictureBytes() const { return m_pictures.totalCost(); }
  void setMostPictureBytes(qsizetype bytes) { m_pictures.setMaxCost(bytes); }
  // Pictures larger than `side` pixels are kept no larger than that: all that a window shows must fit into the cache.
  void setPictureSide(int side);
  bool busy() const { return m_reader->busy() || !m_wanted.empty(); }

 private:
  struct Column {
    std::size_t variable = 0;
    std::int64_t element = -1;  // of a vector; -1 = the variable as a whole
  };
  struct Cell {
    int row = 0, column = 0;
    bool picture = false;
    quint64 key() const {
      return static_cast<quint64>(row) << 32 | static_cast<quint64>(column) << 1 | static_cast<quint64>(picture);
    }
  };
  struct Found {
    Cell cell;
    QString text;
    QImage image;
  };
  // What reading needs, as it was when it was asked for.
  struct Source {
    std::shared_ptr<const Dataset> dataset;
    std::vector<Column> columns;
    std::map<std::string, QStringList> classNames;
    int pictureSide = 0;
    Found read(const Cell& cell) const;
    QString text(const Cell& cell) const;
    QImage image(const Cell& cell) const;
  };
  std::int64_t lineOf(int row) const;
  void want(const Cell& cell) const;  // read soon
  void readWanted();
  void take(const std::vector<Found>& found);
  void forgetCells();
  void repaint();

  std::shared_ptr<const Dataset> m_dataset;
  std::vector<Column> m_columns;
  TextRows m_text;
  std::map<std::string, QStringList> m_classNames;
  std::map<std::int64_t, QString> m_faults;    // by line
  mutable QCache<quint64, QImage> m_pictures;  // by bytes; the keys are those of cells
  mutable QCache<quint64, QString> m_texts;
  mutable std::vector<Cell> m_wanted;  // the newest last
  mutable QSet<quint64> m_asked;       // wanted, or being read
  mutable QTimer m_soon;               // when all that one painting asks for is known
  int m_pictureSide = 512;
  std::unique_ptr<NewestTask>
      m_reader;  // another with each dataset: what the last one's disk holds up does not hold up the next
};

}  // namespace loom
