// Launch scripts as text: the words a shell would pass, without a shell.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/shell_script.h"
#include "tests/english.h"

namespace roofscape {
namespace {

io::ShellScript script(std::string_view text) {
  auto read = io::read_shell(text, "run.sh");
  REQUIRE(read.ok());
  return std::move(read).value();
}

// The words of the last command, with | between them.
std::string words(std::string_view text) {
  const io::ShellScript read = script(text);
  if (read.commands.empty()) return {};
  std::string out;
  for (const io::ShellWord& word : read.commands.back().words) out += (out.empty() ? "" : "|") + word.text;
  return out;
}

TEST_CASE("words end at blanks that are not quoted, lines go on after a backslash") {
  CHECK(words("run a 'b c' \"d e\" f\\ g \\\n  h # no more\n") == "run|a|b c|d e|f g|h");
}

TEST_CASE("variables have their last value, unquoted ones split") {
  CHECK(words("A=1\nA=2\nB=\"x y\"\nrun $A ${A}3 $B \"$B\" '$B'\n") == "run|2|23|x|y|x y|$B");
}

TEST_CASE("defaults stand in for what nothing sets") {
  CHECK(words("A=${1:-1}\nB=\nrun ${N:-4} ${B:-5} ${B-6} ${M:=7} $M ${A:+set} ${C:+set}\n") == "run|4|5|7|7|set");
}

TEST_CASE("arrays keep their elements, take more, and leave out what is commented") {
  CHECK(words("A=(\n  --x 1   # why\n  # --y 2\n  \"a b\"\n)\nA+=( --z )\nrun \"${A[@]}\" ${#A[@]} ${A[1]}\n") ==
        "run|--x|1|a b|--z|4|1");
}

TEST_CASE("arithmetic is of whole numbers and known names") {
  CHECK(words("L=80; P=4\nrun $((L / P / 5)) $(( ($L+1)*2 % 5 )) $((7 - 9))\n") == "run|4|2|-2");
  CHECK(words("L=80\nrun $((L > 64 ? L : 64)) $((L<=64?1:(2==2 ? 3 : 4))) $(( 1 != 1 ))\n") == "run|80|3|0");
  CHECK(words("L=80\nif (( L % 16 == 0 )); then run a; else run b; fi\n") == "run|a");
}

TEST_CASE("a script finds the variables of its environment, and sets its own over them") {
  const std::vector<std::string> environment{"TP=8", "NAME=a=b", "OWN=1"};
  auto read = io::read_shell("OWN=2\nrun $TP ${NAME} $OWN ${EP:-4}\n", "run.sh", environment);
  REQUIRE(read.ok());
  std::string out;
  for (const io::ShellWord& word : read->commands.back().words) out += word.text + " ";
  CHECK(out == "run 8 a=b 2 4 ");
}

TEST_CASE("a variable of the environment that has no value, or no name, is refused") {
  for (const std::string_view wrong : {"TP", "=8", "2X=1", ""}) {
    const auto read = io::read_shell("run\n", "run.sh", std::vector<std::string>{std::string(wrong)});
    REQUIRE_FALSE(read.ok());
    CHECK(io::to_text(read.error(), test::english()) ==
          "--env: \"" + std::string(wrong) + "\" is no variable with its value; write NAME=VALUE");
  }
}

TEST_CASE("a here-document is a file where cat or tee writes it, on the lines it has in the script") {
  const io::ShellScript read = script(
      "N=4\n"
      "cat > a.yml << EOF\nn: $N\nquoted: \"$N\" '$N'\nopen: [${X%, }]\nEOF\n"
      "cat <<'EOF' >> a.yml\nliteral: $N\nEOF\n"
      "tee -a a.yml << EOF > /dev/null\nmore: 1\nEOF\n"
      "tee dir/b.yml <<EOF\nb: 1\nEOF\n"
      "run << EOF > c.yml\nnot: written\nEOF\n"
      "run --config a.yml\n");
  REQUIRE(read.files.contains("a.yml"));
  CHECK(read.files.at("a.yml") == "\n\nn: 4\nquoted: \"4\" '4'\nopen: [$X]\n\n\nliteral: $N\n\n\nmore: 1\n");
  CHECK(*read.written_file("b.yml") == std::string(13, '\n') + "b: 1\n");
  CHECK(*read.written_file("/tmp/b.yml") == *read.written_file("dir/b.yml"));
  CHECK(read.written_file("c.yml") == nullptr);
  CHECK(read.commands.back().words.back().text == "a.yml");
}

TEST_CASE("a file that is written in a function, or anew, has what was written last") {
  const io::ShellScript read = script(
      "write() {\ncat > a.yml << EOF\nn: $1\nEOF\n}\nwrite 1\nwrite 2\n"
      "if [ 1 -eq 2 ]; then\ncat > a.yml << EOF\nn: 3\nEOF\nfi\n");
  CHECK(read.files.at("a.yml").ends_with("n: 2\n"));
  CHECK(read.files.at("a.yml").find("n: 1") == std::string::npos);
}

TEST_CASE("what only a shell knows stays as it is written and is open") {
  const io::ShellScript read = script("run $(nproc) `date` $HOME/x ${UNSET} $((UNSET*2)) $((1/0))\n");
  for (std::size_t i = 1; i < read.commands[0].words.size(); ++i) CHECK_FALSE(read.commands[0].words[i].open.empty());
  CHECK(read.commands[0].words[1].text == "$(nproc)");
  CHECK(read.commands[0].words[1].substitution);
  CHECK_FALSE(read.commands[0].words[3].substitution);
}

TEST_CASE("a word knows its line, through variables and arrays") {
  const io::ShellScript read = script("O=\"--a 1 \\\n  --b 2\"\nA=(\n --c\n)\nrun $O ${A[@]} --d\n");
  std::string lines;
  for (const io::ShellWord& word : read.commands.back().words) lines += std::to_string(word.line) + " ";
  CHECK(lines == "6 1 1 2 2 4 6 ");
}

TEST_CASE("branches are taken where the test is decided, else left out and told") {
  CHECK(words("S=8b\nif [ $S = 70b ]; then L=80; elif [[ $S == \"8b\" ]]; then L=32; else L=1; fi\nrun $L\n") ==
        "run|32");
  CHECK(words("N=2\nif [ $N -gt 1 ] && [ -z \"$X\" ]; then L=many; fi\nrun $L\n") == "run|many");
  const io::ShellScript read = script("L=1\nif [ -f ./x ]; then L=2; fi\nrun $L\n");
  CHECK(read.commands.back().words[1].text == "1");
  REQUIRE(read.gaps.size() == 1);
  CHECK(read.gaps[0].line == 2);
}

TEST_CASE("case picks by the word") {
  CHECK(words("M=70b\ncase $M in\n  8b|7b) L=32;;\n  70b) L=80;;\n  *) L=0;;\nesac\nrun $L\n") == "run|80");
}

TEST_CASE("functions run where they are called, with their arguments") {
  CHECK(words("go() {\n  run --n $1 \"$@\"\n}\ngo 5 'a b'\n") == "run|--n|5|5|a b");
}

TEST_CASE("a text for another shell is read like the script") {
  CHECK(words("C=\"run --a 1\"\nsrun -N 2 bash -c \"$C --b 2\" 2>&1 | tee log\n") == "tee|log");
  const io::ShellScript read = script("C=\"run --a 1\"\nsrun -N 2 bash -c \"$C --b 2\"\n");
  REQUIRE(read.commands.size() == 2);
  CHECK(read.commands[1].words.size() == 5);
}

TEST_CASE("redirections, here-documents and ends of commands are no words") {
  CHECK(words("cat <<EOF > ds.json\n{\"a\": 1}\nEOF\nA=1 run x 2>&1 >log &\n") == "run|x");
}

TEST_CASE("options of Slurm's header have their long names") {
  const io::ShellScript read =
      script("#!/bin/bash\n#SBATCH -N 4\n#SBATCH --gres=gpu:a100:8 # eight\nrun $SLURM_NNODES\n");
  REQUIRE(read.sbatch.size() == 2);
  CHECK(read.sbatch[0].name == "nodes");
  CHECK(read.sbatch[1].value == "gpu:a100:8");
  CHECK(read.sbatch[1].line == 3);
  CHECK(read.commands.back().words[1].text == "4");
}

TEST_CASE("a script that makes more text than any launch is refused") {
  std::string text = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) text += "A=$A$A\n";
  CHECK_FALSE(io::read_shell(text + "run $A\n", "run.sh").ok());
  CHECK(io::read_shell("f() { f; }\nf\n", "run.sh").ok());  // calls that never end
}

}  // namespace
}  // namespace roofscape
