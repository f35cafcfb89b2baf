#pragma once
// The rows of a dataset's file as a table: a column for the line, one for each column of the file, cells as they are
// written, with what is missing or unreadable marked. Any number of rows: what is drawn is read in blocks beside the
// window's thread; a cell that is not there yet says kNotYet, and dataChanged() follows when it is.
#include <QAbstractTableModel>
#include <QCache>
#include <QFontMetrics>
#include <QImage>
#include <QSet>
#include <QStringList>
#include <QTimer>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/data/columns/analysis.h"
#include "widgets/document/newest_task.h"

namespace loom {

// What is known of the file. All of it may grow while it is read.
struct SampleRows {
  QString csv;                                            // absolute
  std::shared_ptr<const TableFacts> facts;                // null = nothing yet
  std::shared_ptr<const std::vector<std::int64_t>> rows;  // of the file, ascending: a part of it; null = all
  std::map<std::string, QStringList> classNames;          // by column: "cat" beside label 3
};

class SamplesModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr const char* kNotYet = "\u2026";
  enum Role {
    picture = Qt::UserRole + 1,  // QImage
    fault,                       // QString: what is wrong with the cell, or with the row in the column of lines
    number,                      // bool: numbers stand in this column
    state                        // CellState
  };
  static constexpr int kBlock = 256;  // rows that are read at once
  enum CellState { fine, missing, unreadable, stray, skipped };

  explicit SamplesModel(QObject* parent = nullptr);

  void setRows(SampleRows rows);
  // Lines that steps leave out, all that are no data, columns that are left out.
  void setSkipped(std::set<std::int64_t> lines, bool strays, std::set<std::string> columns);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  bool isPicture(int column) const;
  bool isNumber(int column) const;
  int widthOfWords(int column, const QFontMetrics& metrics) const;  // of what mostly stands there
  int columnOf(const std::string& name) const;                      // -1 = there is none
  std::string columnName(int column) const;
  // The model's row of a row of the file, the nearest one behind it where that is not shown; -1 behind all.
  int rowOfFile(std::int64_t row) const;
  // Of a line of the file, counted from 1; a row or two off where blank lines stand near it and it is not read yet.
  int rowOfLine(std::int64_t line) const;
  std::int64_t fileRow(int row) const;
  std::int64_t lineOf(int row) const;  // 0 = not read yet
  int sampleOf(int row) const;         // of the dataset that is made of the rows: those that are left out do not count
  // What the row's first cell of this type names: a picture, a sound. Empty where there is none, or it is not read yet.
  std::filesystem::path fileOf(int row, ColumnType type) const;
  bool isGrown() const { return m_shown.facts && m_shown.facts->whole; }
  // The rows as they are written, as far as they are read.
  TableSample rowsAt(int first, int count) const;
  qsizetype pictureBytes() const { return m_pictures.totalCost(); }
  void setMostPictureBytes(qsizetype bytes) { m_pictures.setMaxCost(bytes); }
  // Pictures larger than `side` pixels are kept no larger than that: all that a window shows must fit into the cache.
  void setPictureSide(int side);
  bool busy() const { return m_reader->busy() || !m_wantedBlocks.empty() || !m_wantedFiles.empty(); }

 private:
  struct Cell {
    int row = 0, column = 0;
    quint64 key() const { return static_cast<quint64>(row) << 32 | static_cast<quint64>(column); }
  };
  struct File {  // that a cell names
    Cell cell;
    std::filesystem::path path;
    QImage image;
    QString text;   // of what is no picture
    QString fault;  // why it cannot be read
  };
  const ColumnFacts& column(int shown) const { return m_shown.facts->columns[static_cast<std::size_t>(shown - 1)]; }
  bool isFile(int column) const;
  // What stands there; null = not read yet, and it is wanted from now on.
  const std::vector<std::string>* cellsOf(int row) const;
  const File* fileOf(const Cell& cell, const std::string& path) const;
  CellState stateOf(int row, int column) const;
  QString reasonOf(int row, int column) const;
  QString textOf(int row, int column) const;
  void readWanted();
  void readBlock(int block);
  void readFiles();
  std::filesystem::path placeOf(std::string cell) const;
  void forget();
  void repaint();

  SampleRows m_shown;
  std::set<std::int64_t> m_skippedLines;
  std::set<std::string> m_leftOut;
  bool m_skipsStrays = false;
  std::map<std::int64_t, QString> m_strays;   // by line: why
  mutable QCache<int, TableSample> m_blocks;  // by number
  mutable QCache<quint64, File> m_pictures;   // by bytes
  mutable std::vector<int> m_wantedBlocks;    // the newest last
  mutable std::vector<File> m_wantedFiles;
  mutable QSet<quint64> m_askedFiles;  // wanted, or being read
  mutable QTimer m_soon;               // when all that one painting asks for is known
  int m_pictureSide = 512;
  std::unique_ptr<NewestTask>
      m_reader;  // another with each file: what the last one's disk holds up does not hold up the next
};

}  // namespace loom
