#include "engine/base/text_match.h"

#include <doctest/doctest.h>

using roofscape::engine::Match;
using roofscape::engine::match_of;
using roofscape::engine::names;
using roofscape::engine::small_letters;

TEST_CASE("small letters are those of the Latin and the Cyrillic alphabet") {
  CHECK(small_letters("FSDP Память АЯ РП") == "fsdp память ая рп");
  CHECK(small_letters("слоЁв ёлка Ёж") == "слоев елка еж");
  CHECK(small_letters("한국어 ÄÖ ≤ \xd0") == "한국어 ÄÖ ≤ \xd0");
}

TEST_CASE("a Russian name is found however its capitals and its letter io are typed") {
  CHECK(match_of("память", "Память") == Match::exact);
  CHECK(match_of("РАСЧЕТ", "Диагностика и расчёт") == Match::word_start);
  CHECK(match_of("чип память", "Память чипа") == Match::word_start);
  CHECK(match_of("кэш", "Память чипа") == Match::none);
  CHECK(names("чипа", "Память чипа"));
}
