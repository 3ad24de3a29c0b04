// What the grammar and the converter need from the rest of llama.cpp. No vocabulary is ever there.
#include "llama-impl.h"
#include "llama-vocab.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

std::string string_join(const std::vector<std::string> & parts, const std::string & separator) {
    std::string joined;
    for (size_t i = 0; i < parts.size(); i++) {
        joined += (i > 0 ? separator : "") + parts[i];
    }
    return joined;
}

std::vector<std::string> string_split(const std::string & text, const std::string & separator) {
    std::vector<std::string> parts;
    size_t from = 0;
    for (size_t at; (at = text.find(separator, from)) != std::string::npos; from = at + separator.size()) {
        parts.push_back(text.substr(from, at - from));
    }
    parts.push_back(text.substr(from));
    return parts;
}

std::string string_repeat(const std::string & text, size_t times) {
    std::string repeated;
    while (times-- > 0) {
        repeated += text;
    }
    return repeated;
}

void llama_log_internal(lm_ggml_log_level, const char *, ...) {}

extern "C" void lm_ggml_abort(const char * file, int line, const char * format, ...) {
    fprintf(stderr, "%s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    abort();
}

bool llama_vocab::is_eog(llama_token) const { return false; }

const std::string & llama_vocab::token_to_piece(llama_token) const {
    static const std::string empty;
    return empty;
}

int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { return 0; }
