// llama.rn's own schema converter, grammar parser and matcher behind JSON lines: one request a line on standard input,
// one answer a line on standard output.
//
//   {"do": "convert", "schema": S, "times": n}         -> {"grammar": text, "ns": n}, the median of so many runs
//   {"do": "convert", "tools": [{"name": N, "schema": S}, ..]} -> the same, for arguments of several tools: the rules
//                                                         that llama.rn makes for `tools`, one of them at the root
//   {"do": "load", "grammar": G}                       -> {"rules": n, "ns": n}
//   {"do": "accepts", "grammar": G, "texts": [..]}     -> {"accepts": [..], "most": n, "live": n, "depth": n}: stacks
//                                                         at once, at most and in the mean, and their depth
//   {"do": "time", "grammar": G, "texts": [..], "times": n}
//                                                      -> {"mean": ns, "median": ns, "worst": ns}, all per byte
//   {"do": "sample", "grammar": G, "seed": n, "count": n, "soft": n} -> {"texts": [..]}
//   {"do": "pieces", "grammar": G, "pieces": [hex, ..]} -> {"accepts": [..]}: may a token of these bytes come first
//
// What goes wrong is {"error": text}. The process may crash or hang on hostile input: whoever asks has to watch it.
#include "llama.h"
#include "llama-grammar.h"
#include "json-schema-to-grammar.h"
#include "unicode.h"
#include "nlohmann/json.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

using json = nlohmann::ordered_json;
using clock_type = std::chrono::steady_clock;

namespace {

struct grammar_free {
    void operator()(llama_grammar * grammar) const { llama_grammar_free_impl(grammar); }
};
using grammar_ptr = std::unique_ptr<llama_grammar, grammar_free>;

double ns_since(clock_type::time_point start) {
    return std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
}

grammar_ptr load(const std::string & text) {
    grammar_ptr grammar(llama_grammar_init_impl(nullptr, text.c_str(), "root", false, nullptr, 0, nullptr, 0));
    if (!grammar) {
        throw std::runtime_error("the grammar does not load");
    }
    return grammar;
}

bool is_end(const llama_grammar_element & element) {
    return element.type == LLAMA_GRETYPE_END || element.type == LLAMA_GRETYPE_ALT;
}

// Matches a text from the start; leaves the grammar as it was.
struct matched {
    bool   whole;
    size_t characters;
    size_t most;  // stacks at once
    size_t sum;   // stacks after each character, added up
    size_t depth; // of the deepest stack
};

matched match(llama_grammar * grammar, const std::string & text) {
    auto & stacks = llama_grammar_get_stacks(grammar);
    const auto saved = stacks;
    matched result{ false, 0, stacks.size(), 0, 0 };
    for (const uint32_t c : unicode_cpts_from_utf8(text)) {
        llama_grammar_accept(grammar, c);
        result.most = std::max(result.most, stacks.size());
        result.sum += stacks.size();
        for (const auto & stack : stacks) {
            result.depth = std::max(result.depth, stack.size());
        }
        if (stacks.empty()) {
            break;
        }
        result.characters++;
    }
    for (const auto & stack : stacks) {
        result.whole = result.whole || stack.empty();
    }
    stacks = saved;
    return result;
}

// The time of each character of a text, the best of several runs.
std::vector<double> times(llama_grammar * grammar, const std::string & text, int runs) {
    auto & stacks = llama_grammar_get_stacks(grammar);
    const auto saved = stacks;
    const auto characters = unicode_cpts_from_utf8(text);
    std::vector<double> best(characters.size(), 1e18);
    for (int run = 0; run < runs; run++) {
        for (size_t i = 0; i < characters.size(); i++) {
            const auto start = clock_type::now();
            llama_grammar_accept(grammar, characters[i]);
            best[i] = std::min(best[i], ns_since(start));
        }
        stacks = saved;
    }
    return best;
}

// Draws texts from the rules as the parser made them.
class sampler {
  public:
    sampler(const llama_grammar_rules & rules, uint64_t seed, size_t soft) : rules(rules), random(seed), soft(soft) {
        least.assign(rules.size(), UNKNOWN);
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t rule = 0; rule < rules.size(); rule++) {
                for (const size_t alternative : alternatives(rule)) {
                    const size_t length = shortest(rule, alternative);
                    if (length < least[rule]) {
                        least[rule] = length;
                        changed = true;
                    }
                }
            }
        }
    }

    std::string sample(size_t root) {
        std::string text;
        std::vector<std::pair<size_t, size_t>> stack{ { root, choose(root, text) } };
        while (!stack.empty()) {
            const auto [rule, at] = stack.back();
            stack.pop_back();
            const auto & elements = rules[rule];
            if (is_end(elements[at])) {
                continue;
            }
            if (elements[at].type == LLAMA_GRETYPE_RULE_REF) {
                const size_t next = elements[at].value;
                stack.emplace_back(rule, at + 1);
                stack.emplace_back(next, choose(next, text));
            } else {
                size_t after = at + 1;
                while (elements[after].type == LLAMA_GRETYPE_CHAR_RNG_UPPER || elements[after].type == LLAMA_GRETYPE_CHAR_ALT) {
                    after++;
                }
                text += unicode_cpt_to_utf8(character(elements, at, after));
                stack.emplace_back(rule, after);
            }
        }
        return text;
    }

  private:
    static constexpr size_t UNKNOWN = SIZE_MAX / 4;
    const llama_grammar_rules & rules;
    std::mt19937_64             random;
    size_t                      soft;
    std::vector<size_t>         least;

    uint64_t below(uint64_t bound) { return random() % bound; }

    std::vector<size_t> alternatives(size_t rule) const {
        std::vector<size_t> starts{ 0 };
        for (size_t i = 0; i < rules[rule].size(); i++) {
            if (rules[rule][i].type == LLAMA_GRETYPE_ALT) {
                starts.push_back(i + 1);
            }
        }
        return starts;
    }

    size_t shortest(size_t rule, size_t at) const {
        size_t length = 0;
        for (; !is_end(rules[rule][at]); at++) {
            const auto & element = rules[rule][at];
            if (element.type == LLAMA_GRETYPE_RULE_REF) {
                length += least[element.value];
            } else if (element.type == LLAMA_GRETYPE_CHAR || element.type == LLAMA_GRETYPE_CHAR_NOT || element.type == LLAMA_GRETYPE_CHAR_ANY) {
                length++;
            }
        }
        return std::min(length, UNKNOWN);
    }

    // Any alternative while the text is short, then one that ends soonest.
    size_t choose(size_t rule, const std::string & text) {
        const auto starts = alternatives(rule);
        if (text.size() < soft) {
            return starts[below(starts.size())];
        }
        return *std::min_element(starts.begin(), starts.end(), [&](size_t a, size_t b) { return shortest(rule, a) < shortest(rule, b); });
    }

    uint32_t character(const llama_grammar_rule & elements, size_t from, size_t to) {
        std::vector<std::pair<uint32_t, uint32_t>> ranges;
        for (size_t i = from; i < to; i++) {
            if (elements[i].type == LLAMA_GRETYPE_CHAR_RNG_UPPER) {
                ranges.back().second = elements[i].value;
            } else {
                ranges.emplace_back(elements[i].value, elements[i].value);
            }
        }
        for (;;) {
            uint32_t c;
            if (elements[from].type == LLAMA_GRETYPE_CHAR) {
                const auto & range = ranges[below(ranges.size())];
                // Near the ends more often than in between.
                const uint64_t width = uint64_t(range.second) - range.first + 1;
                const uint64_t reach = below(3) == 0 ? width : std::min<uint64_t>(width, 96);
                c = below(4) == 0 ? range.second - uint32_t(below(std::min<uint64_t>(width, 2))) : range.first + uint32_t(below(reach));
            } else {
                c = below(2) == 0 ? uint32_t(below(0x80)) : uint32_t(below(0x110000));
                if (elements[from].type == LLAMA_GRETYPE_CHAR_NOT &&
                    std::any_of(ranges.begin(), ranges.end(), [&](const auto & range) { return range.first <= c && c <= range.second; })) {
                    continue;
                }
            }
            return c;
        }
    }
};

// Whether a token of these bytes may come first: the check that the sampler makes, characters in parts included.
bool takes_piece(llama_grammar * grammar, const std::string & bytes) {
    uint32_t value = 0;
    int      remaining = 0;
    std::vector<uint32_t> characters;
    for (const unsigned char byte : bytes) {
        if (remaining == 0) {
            remaining = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
            value = remaining == 0 ? byte : byte & ((1 << (6 - remaining)) - 1);
        } else {
            value = (value << 6) | (byte & 0x3F);
            remaining--;
        }
        if (remaining == 0) {
            characters.push_back(value);
            value = 0;
        }
    }
    characters.push_back(0);
    const llama_grammar_candidates candidates{ { 0, characters.data(), { value, remaining }, 0 } };
    for (const auto & stack : llama_grammar_get_stacks(grammar)) {
        if (llama_grammar_reject_candidates_for_stack(llama_grammar_get_rules(grammar), stack, candidates).empty()) {
            return true;
        }
    }
    return false;
}

std::string from_hex(const std::string & hex) {
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

// As a chat template's parser does it: every reference is resolved first, then each schema gets its rule.
std::string of_tools(const json & tools) {
    return build_grammar([&](const common_grammar_builder & builder) {
        std::vector<json> schemas;
        for (const auto & tool : tools) {
            schemas.push_back(tool.at("schema"));
            builder.resolve_refs(schemas.back());
        }
        std::string root;
        for (size_t i = 0; i < schemas.size(); i++) {
            const std::string name = tools[i].at("name");
            root += (i > 0 ? " | " : "") + ("\"" + name + " \" ") + builder.add_schema("tool-" + name + "-schema", schemas[i]);
        }
        builder.add_rule("root", root);
    });
}

json answer(const json & request) {
    const std::string what = request.at("do");
    if (what == "convert") {
        if (request.contains("tools")) {
            const auto start = clock_type::now();
            std::string text = of_tools(request.at("tools"));
            return { { "grammar", std::move(text) }, { "ns", ns_since(start) } };
        }
        std::vector<double> times;
        std::string text;
        for (int run = 0; run < std::max(1, request.value("times", 1)); run++) {
            const auto begin = clock_type::now();
            text = json_schema_to_grammar(request.at("schema"), true);
            times.push_back(ns_since(begin));
        }
        std::sort(times.begin(), times.end());
        return { { "grammar", std::move(text) }, { "ns", times[times.size() / 2] } };
    }
    const std::string text = request.at("grammar");
    const auto start = clock_type::now();
    const grammar_ptr grammar = load(text);
    const double ns = ns_since(start);
    if (what == "load") {
        return { { "rules", llama_grammar_get_rules(grammar.get()).size() }, { "ns", ns } };
    }
    if (what == "accepts") {
        json whole = json::array();
        size_t most = 0, sum = 0, characters = 0, depth = 0;
        for (const std::string candidate : request.at("texts")) {
            const matched result = match(grammar.get(), candidate);
            whole.push_back(result.whole);
            most = std::max(most, result.most);
            depth = std::max(depth, result.depth);
            sum += result.sum;
            characters += result.characters;
        }
        const double live = characters == 0 ? 0 : double(sum) / double(characters);
        return { { "accepts", whole }, { "most", most }, { "live", live }, { "depth", depth } };
    }
    if (what == "time") {
        std::vector<double> all;
        double total = 0;
        size_t bytes = 0;
        for (const std::string candidate : request.at("texts")) {
            for (const double ns : times(grammar.get(), candidate, request.value("times", 5))) {
                all.push_back(ns);
                total += ns;
            }
            bytes += candidate.size();
        }
        std::sort(all.begin(), all.end());
        if (all.empty()) {
            throw std::runtime_error("no text");
        }
        return { { "mean", total / bytes }, { "median", all[all.size() / 2] }, { "worst", all.back() } };
    }
    if (what == "sample") {
        llama_grammar_parser parser;
        parser.parse(text.c_str());
        sampler draw(llama_grammar_get_rules(grammar.get()), request.value("seed", uint64_t(1)), request.value("soft", size_t(80)));
        json texts = json::array();
        for (size_t i = 0; i < request.value("count", size_t(1)); i++) {
            texts.push_back(draw.sample(parser.symbol_ids.at("root")));
        }
        return { { "texts", texts } };
    }
    if (what == "pieces") {
        json accepts = json::array();
        for (const std::string piece : request.at("pieces")) {
            accepts.push_back(takes_piece(grammar.get(), from_hex(piece)));
        }
        return { { "accepts", accepts } };
    }
    throw std::runtime_error("unknown request");
}

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        json reply;
        try {
            reply = answer(json::parse(line));
        } catch (const std::exception & error) {
            reply = { { "error", error.what() } };
        }
        std::cout << reply.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    }
}
