# The entries of this room, read by ../layers/CMakeLists.txt: metrics stand in the same table, at the end of the palette.
foreach(metric Accuracy TopKAccuracy Error TopNError BinaryAccuracy BinaryError
               F1 Precision Recall MeanIoU BinaryF1 BinaryPrecision BinaryRecall BinaryIoU AUC BinaryAUC
               Perplexity R2 RootMeanSquaredError WordErrorRate)
  loom_add(Layer ${metric})
endforeach()
file(GLOB LOOM_METRIC_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp ${CMAKE_CURRENT_LIST_DIR}/*.h)
