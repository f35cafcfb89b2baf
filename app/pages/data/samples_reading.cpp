// What SamplesModel reads beside the window's thread: blocks of rows, and the files that their cells name.
#include <algorithm>

#include "app/pages/data/sample_picture.h"
#include "app/pages/data/samples_model.h"
#include "engine/base/error.h"
#include "engine/data/decode.h"

namespace loom {
namespace {

constexpr std::size_t kFilesAtOnce = 32;  // what a person has scrolled to meanwhile comes first

}  // namespace

void SamplesModel::readWanted() {
  if (m_reader->busy()) return;
  if (!m_wantedBlocks.empty()) {
    const int block = m_wantedBlocks.back();
    m_wantedBlocks.pop_back();
    readBlock(block);
  } else if (!m_wantedFiles.empty()) {
    readFiles();
  }
}

void SamplesModel::readBlock(int block) {
  m_reader->ask(
      [this, block, shown = m_shown, first = block * kBlock,
       last = std::min((block + 1) * kBlock, rowCount()) - 1](const std::atomic<bool>&) -> NewestTask::Answer {
        TableSample read;
        if (first > last) return [this] { readWanted(); };
        const auto fileRow = [&](int row) {
          return shown.rows ? (*shown.rows)[static_cast<std::size_t>(row)] : std::int64_t{row};
        };
        try {
          TableSample all =
              readTableRows(shown.csv.toStdString(), *shown.facts, fileRow(first), fileRow(last) - fileRow(first) + 1);
          if (!shown.rows) {
            read = std::move(all);
          } else {
            std::size_t at = 0;
            for (int row = first; row <= last; ++row) {
              while (at < all.rows.size() && all.rows[at] < fileRow(row)) ++at;
              if (at == all.rows.size()) break;
              read.rows.push_back(all.rows[at]);
              read.lines.push_back(all.lines[at]);
              read.cells.push_back(std::move(all.cells[at]));
            }
          }
        } catch (const Error&) {
          // The file is gone: the doctor says so, and the cells stay empty.
        }
        // Rows that the file no longer has are there without a cell: else they would be asked for again and again.
        while (static_cast<int>(read.cells.size()) < last - first + 1) {
          read.rows.push_back(-1);
          read.lines.push_back(0);
          read.cells.emplace_back();
        }
        return [this, block, first, last, read = std::move(read)]() mutable {
          if (last + 1 < std::min((block + 1) * kBlock, rowCount())) {  // the file was read on meanwhile
            m_wantedBlocks.push_back(block);
            return readWanted();
          }
          m_blocks.insert(block, new TableSample(std::move(read)));
          if (last < rowCount()) Q_EMIT dataChanged(index(first, 0), index(last, columnCount() - 1));
          readWanted();
        };
      });
}

std::filesystem::path SamplesModel::placeOf(std::string cell) const {
  std::replace(cell.begin(), cell.end(), '\\', '/');
  return std::filesystem::path(m_shown.csv.toStdString()).parent_path() / cell;
}

void SamplesModel::readFiles() {
  const auto first = m_wantedFiles.end() - static_cast<std::ptrdiff_t>(std::min(kFilesAtOnce, m_wantedFiles.size()));
  std::vector<File> files(first, m_wantedFiles.end());
  m_wantedFiles.erase(first, m_wantedFiles.end());
  m_reader->ask([this, files = std::move(files),
                 side = m_pictureSide](const std::atomic<bool>& outdated) mutable -> NewestTask::Answer {
    Sample sample;
    std::vector<std::byte> scratch;
    for (File& file : files) {
      if (outdated) return {};
      try {
        decodeFile(file.path, sample, scratch);
        const bool sound = sample.kind == VariableKind::wave && sample.rate > 0;
        if (sample.kind == VariableKind::image || sound) {
          file.image = samplePicture(sample.bytes, sample.shape, sample.type);
          if (file.image.width() > side || file.image.height() > side)
            file.image = file.image.scaled(side, side, Qt::KeepAspectRatio, Qt::SmoothTransformation);
          file.text = sound ? tr("%1 s").arg(static_cast<double>(sample.shape[0]) / sample.rate, 0, 'f', 2)
                            : QString::fromStdString(sample.shape.toString());
        } else {
          file.text = QString::fromStdString(sample.shape.toString()) + QStringLiteral("   ") +
                      sampleText(sample.bytes, sample.shape, sample.type);
        }
      } catch (const Error& error) {
        file.fault = QString::fromStdString(error.message());
      }
    }
    return [this, files = std::move(files)] {
      for (const File& file : files) {
        m_askedFiles.remove(file.cell.key());
        m_pictures.insert(file.cell.key(), new File(file), std::max<qsizetype>(64, file.image.sizeInBytes()));
        const QModelIndex at = index(file.cell.row, file.cell.column);
        Q_EMIT dataChanged(at, at);
      }
      readWanted();
    };
  });
}

}  // namespace loom
