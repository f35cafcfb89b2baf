// Values of Console's properties as values of our fields.
#include "engine/exchange/sdcproj/sdc_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loom::sdc {
namespace {

TEST(SdcValue, LiteralsMacrosAndArithmetic) {
  const Layer layer{.id = 1,
                    .type = "Convolution",
                    .name = "c",
                    .properties = {{"OutMaps", "32"}, {"KernelShape", "3,5"}, {"Loop", "Loop+1"}}};
  const Names names{.layer = &layer,
                    .arguments = {{"Maps", "Maps"}, {"Conv-BS", "Conv_BS"}, {"Fixed", "7"}, {"Sizes", "2,4"}}};
  EXPECT_EQ(numberValue("16", names), Json(16));
  EXPECT_EQ(numberValue(" 0.5 ", names), Json(0.5));
  EXPECT_EQ(numberValue("1e-08", names), Json(1e-8));
  EXPECT_EQ(numberValue("-1", names), Json(-1));
  EXPECT_EQ(numberValue("*Maps", names), Json("=Maps"));
  EXPECT_EQ(numberValue("Maps*2", names), Json("=Maps*2"));
  EXPECT_EQ(numberValue("2**Maps", names), Json("=2*Maps"));
  EXPECT_EQ(numberValue("Input[0]/2", names), Json("=Input[0]/2"));
  EXPECT_EQ(numberValue("(Input[0]+OutMaps)*KernelShape[1]", names), Json("=(Input[0]+32)*5"));
  EXPECT_EQ(numberValue("*Fixed+1", names), Json("=7+1"));
  EXPECT_EQ(numberValue("Fixed", names), Json(7));
  EXPECT_FALSE(numberValue("*UnitProperty(Size)", names));
  EXPECT_FALSE(numberValue("*Input", names));
  EXPECT_FALSE(numberValue("Unknown", names));
  EXPECT_FALSE(numberValue("Loop", names)) << "a property that names itself ends";
  for (const char* broken : {"", "1+", "(1", "1)", "Input[", "Input[x]", "Input[99999999]", "1 2", "*", "a=b", "1;2"})
    EXPECT_FALSE(numberValue(broken, names)) << broken;
}

TEST(SdcValue, Lists) {
  const Layer layer{.id = 1, .type = "MaxPooling", .name = "p", .properties = {{"KernelShape", "2,3"}}};
  const Names names{.layer = &layer, .arguments = {{"Kernel", "Kernel"}}};
  EXPECT_EQ(listValue("3,3", names), Json::array({3, 3}));
  EXPECT_EQ(listValue("Input[0],1,Input[1]*2", names), Json::array({"=Input[0]", 1, "=Input[1]*2"}));
  EXPECT_EQ(listValue("*Kernel", names), Json("=Kernel"));
  EXPECT_EQ(listValue("*KernelShape", names), Json::array({2, 3}));
  EXPECT_FALSE(listValue("", names));
  EXPECT_FALSE(listValue("1,,2", names));
}

TEST(SdcFile, IsReadAsConsoleReadsIt) {
  const File file = readFile(
      "\xef\xbb\xbf[Global]\r\nNumNetwork=2\r\nNetwork_0=Main\r\nNetwork_1=A_B\r\n; a "
      "remark\r\nlonely\r\n[Main_Network_Global]\r\n[Main_Layer_3]\r\nID=7\r\nType=ReLU\r\n"
      "Property_0_Name=Name\r\nProperty_0_Value=Act\r\nProperty_1_Name=SkipAtInspection\r\nProperty_1_Value=True\r\n["
      "Main_Layer_11]\r\nID=9\r\nType=Tanh\r\n"
      "[Main_Link_0]\r\nSourceLayerID=7\r\nDestLayerID=9\r\nDestPinIndex=1\r\n[Main_Link_1]\r\nSourceLayerID="
      "7\r\nDestLayerID=99\r\n[A_B_Layer_0]\r\nID=1\r\nType=Abs\r\n"
      "[A_B_Layer_1]\r\nID=1\r\nType=Abs\r\n[Description]\r\nText=one\\ntwo\r\n[Config]\r\nMaxEpoch=undefined\r\n",
      "x");
  ASSERT_EQ(file.networks.size(), 2u);
  ASSERT_EQ(file.networks[0].layers.size(), 2u);
  EXPECT_EQ(file.networks[0].layers[0].name, "Act");
  EXPECT_EQ(*file.networks[0].layers[0].property("SkipAtTest"), "True");
  ASSERT_EQ(file.networks[0].links.size(), 1u);
  EXPECT_EQ(file.networks[0].links[0].pin, 1);
  EXPECT_EQ(file.networks[1].name, "A_B");
  EXPECT_EQ(file.networks[1].layers.size(), 1u);
  EXPECT_EQ(file.faults.size(), 2u);
  EXPECT_EQ(file.description, "one\ntwo");
  EXPECT_EQ(file.config.number("MaxEpoch", 5), 5);
}

}  // namespace
}  // namespace loom::sdc
