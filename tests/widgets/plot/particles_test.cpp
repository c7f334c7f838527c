#include "widgets/plot/particles.h"

#include <doctest/doctest.h>

#include "widgets/plot/text_table.h"

using roofscape::widgets::settle_particles;

TEST_CASE("a Korean particle follows the last sound of a word in Hangul") {
  CHECK(settle_particles("레이어을(를)") == "레이어를");
  CHECK(settle_particles("토큰은(는)") == "토큰은");
  CHECK(settle_particles("스텝과(와) 스테이지과(와)") == "스텝과 스테이지와");
  CHECK(settle_particles("모델(으)로, 칩(으)로, 노드(으)로") == "모델로, 칩으로, 노드로");
}

TEST_CASE("a Korean particle follows a number as it is read") {
  CHECK(settle_particles("8이(가) 2이(가) 3이(가) 16이(가)") == "8이 2가 3이 16이");
  CHECK(settle_particles("8(으)로 3(으)로 4(으)로") == "8로 3으로 4로");
  CHECK(settle_particles("40 %을(를)") == "40 %를");
}

TEST_CASE("a Korean particle follows a word in Latin letters as it is transcribed") {
  CHECK(settle_particles("tensor은(는) pipeline은(는) fsdp은(는) step은(는)") == "tensor는 pipeline은 fsdp는 step은");
  CHECK(settle_particles("HBM을(를) GB을(를) schedule(으)로 ms이(가)") == "HBM을 GB를 schedule로 ms가");
}

TEST_CASE("quotation marks and brackets between a word and its particle are not read") {
  CHECK(settle_particles("“칩”이(가)") == "“칩”이");
  CHECK(settle_particles("\"모드\"이(가)") == "\"모드\"가");
  CHECK(settle_particles("토큰(tokens)을(를)") == "토큰(tokens)를");
}

TEST_CASE("brackets that hold no particle stay, and both forms where nothing is read before them") {
  CHECK(settle_particles("(5장) 훈련(training)") == "(5장) 훈련(training)");
  CHECK(settle_particles("은(는) —은(는)") == "은(는) —은(는)");
}

TEST_CASE("what is put into a Korean text decides the particle behind it") {
  using roofscape::widgets::TextTable;
  const TextTable::Texts texts{{"decides", "{0}이(가) 결정, {1}(으)로"}};
  CHECK(TextTable(texts, "ko").format("decides", {"메모리", "10"}) == "메모리가 결정, 10으로");
  CHECK(TextTable(texts, "en").format("decides", {"메모리", "10"}) == "메모리이(가) 결정, 10(으)로");
}
