// The score of additive attention, s_ij = sum_d v_d tanh(q_id + k_jd), and its gradients, without the n * m * d_k
// numbers tanh(q_id + k_jd) ever being in memory.
//
// With E = e^{2x}: tanh x = (E - 1) / (E + 1), and E of a sum is a product, e^{2(q + k)} = e^{2q} e^{2k}. So the
// exponentials are taken once for each element of a query and of a key, and a pair needs a product and a reciprocal.
// e^{2x} leaves the range of single precision past |x| = 44 while q + k may be small, so it is carried as
//
//     e^{2x} = (1 + mu) 2^e,   e whole, |mu| < 0.42,
//
// and exponents are added before they are cut off. mu is kept rather than 1 + mu: for small x it has all its digits,
// and so has E - 1. With 1 + P = (1 + mu_q)(1 + mu_k) and p = 2^(e_q + e_k):
//
//     E - 1 = p P + (p - 1),   tanh = (E - 1) / (E + 1),   d tanh / dx = 4 E / (E + 1)^2.
//
// Everything is in vectors of LANES elements along d. Sums over rows of one head are made in an order that depends on
// shapes alone, never on the number of threads.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace {

constexpr int64_t LANES = 16;
// Beyond 2^60, |x| > 20, tanh is 1 and its derivative 4 * 2^-60: far below a rounding, and 2^60 squared is still a number.
constexpr int32_t CUT_OFF = 60;

typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
typedef float HalfOfFloats __attribute__((vector_size(2 * LANES)));
typedef float QuarterOfFloats __attribute__((vector_size(LANES)));

inline Floats reciprocal(Floats x) {
#ifdef __AVX512F__
    const __m512 guess = _mm512_rcp14_ps((__m512)x);  // 14 digits, 28 after one step of Newton's method
    return (Floats)guess * (2.0f - x * (Floats)guess);
#else
    return 1.0f / x;
#endif
}

inline float sum(Floats x) {
    HalfOfFloats half[2];
    std::memcpy(half, &x, sizeof x);
    half[0] += half[1];
    QuarterOfFloats quarter[2];
    std::memcpy(quarter, half, sizeof quarter);
    quarter[0] += quarter[1];
    return (quarter[0][0] + quarter[0][1]) + (quarter[0][2] + quarter[0][3]);
}

// e^{2x} as (1 + mu) 2^exponent.
struct Exponential {
    Floats mu;
    Ints exponent;
};

inline Exponential exponential(Floats x) {
    Floats y = x + x;
    y = y > 5000.0f ? Floats{} + 5000.0f : y;  // infinite x; a NaN passes both comparisons and stays what it is
    y = y < -5000.0f ? Floats{} - 5000.0f : y;
    const Floats to_whole = Floats{} + 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded to a whole number
    const Floats shifted = y * 1.44269504f + to_whole;
    const Floats whole = shifted - to_whole;
    // ln 2 in two parts: the product with the first is exact.
    const Floats f = (y - whole * 0.693359375f) + whole * 2.12194440e-4f;
    Floats series = Floats{} + 1.0f / 40320;  // e^f - 1 by its Taylor series, |f| <= ln 2 / 2
    series = series * f + 1.0f / 5040;
    series = series * f + 1.0f / 720;
    series = series * f + 1.0f / 120;
    series = series * f + 1.0f / 24;
    series = series * f + 1.0f / 6;
    series = series * f + 0.5f;
    return {f + f * f * series, (Ints)shifted - (Ints)to_whole};
}

struct Pair {
    Floats e_minus_1, e, reciprocal_of_e_plus_1;
};

inline Pair pair(Exponential query, Floats one_plus_mu, Floats key_mu, Ints key_exponent) {
    Ints exponent = query.exponent + key_exponent;
    exponent = exponent > CUT_OFF ? Ints{} + CUT_OFF : exponent;
    exponent = exponent < -CUT_OFF ? Ints{} - CUT_OFF : exponent;
    const Floats power = (Floats)((exponent + 127) << 23);
    const Floats scaled = power * (query.mu + one_plus_mu * key_mu);
    const Floats e = scaled + power;
    return {scaled + (power - 1.0f), e, reciprocal(e + 1.0f)};
}

// The exponentials of some rows of one head, block of LANES by block: [blocks][rows]. Elements past d are those of 0.
class Exponentials {
public:
    Exponentials(int64_t rows, int64_t d)
        : rows_(rows), d_(d), blocks_((d + LANES - 1) / LANES),
          place_((Exponential *)std::aligned_alloc(64, sizeof(Exponential) * rows * blocks_)) {}
    ~Exponentials() { std::free(place_); }
    Exponentials(const Exponentials &) = delete;
    Exponentials &operator=(const Exponentials &) = delete;

    bool made() const { return place_ != nullptr; }
    int64_t blocks() const { return blocks_; }
    const Exponential *block(int64_t b) const { return place_ + b * rows_; }

    void take(const float *x, int64_t stride) {
        for (int64_t row = 0; row < rows_; ++row)
            for (int64_t b = 0; b < blocks_; ++b) {
                const int64_t width = d_ - b * LANES < LANES ? d_ - b * LANES : LANES;
                Floats part = {};
                std::memcpy(&part, x + row * stride + b * LANES, sizeof(float) * width);
                place_[b * rows_ + row] = exponential(part);
            }
    }

private:
    int64_t rows_, d_, blocks_;
    Exponential *place_;
};

// A tensor [batch, heads, rows, d] with its strides; d lies densely.
struct Tensor {
    float *data;
    int64_t batch, head, row;
    float *at(int64_t b, int64_t h, int64_t r) const { return data + b * batch + h * head + r * row; }
};

struct Sizes {
    int64_t batch, heads, queries, keys, d, chunks;
    int64_t tasks() const { return batch * heads * chunks; }
    int64_t padded() const { return (d + LANES - 1) / LANES * LANES; }
};

// The queries of one head that one task does.
struct Task {
    int64_t batch, head, first, end;
    Task(const Sizes &s, int64_t number)
        : batch(number / (s.heads * s.chunks)), head(number / s.chunks % s.heads),
          first(number % s.chunks * s.queries / s.chunks), end((number % s.chunks + 1) * s.queries / s.chunks) {}
};

constexpr int64_t TOGETHER = 4;  // keys scored at once: independent sums keep the processor busy

void score_task(const Sizes &s, const Task &task, const Tensor &query, const Exponentials &keys, Exponentials &one,
                const float *v, float *score) {
    const int64_t blocks = keys.blocks();
    for (int64_t i = task.first; i < task.end; ++i) {
        one.take(query.at(task.batch, task.head, i), 0);
        float *row = score + i * s.keys;
        for (int64_t j = 0; j < s.keys; j += TOGETHER) {
            const int64_t count = s.keys - j < TOGETHER ? s.keys - j : TOGETHER;
            Floats sums[TOGETHER] = {};
            for (int64_t b = 0; b < blocks; ++b) {
                const Exponential q = one.block(b)[0];
                const Floats one_plus_mu = 1.0f + q.mu;
                Floats weight;
                std::memcpy(&weight, v + b * LANES, sizeof weight);
                const Exponential *k = keys.block(b) + j;
                for (int64_t c = 0; c < count; ++c) {
                    const Pair x = pair(q, one_plus_mu, k[c].mu, k[c].exponent);
                    sums[c] += weight * (x.e_minus_1 * x.reciprocal_of_e_plus_1);
                }
            }
            for (int64_t c = 0; c < count; ++c) row[j + c] = sum(sums[c]);
        }
    }
}

// Adds to grad_key [blocks][keys][LANES] and grad_v [padded]; neither holds the factor v yet.
void gradients_task(const Sizes &s, const Task &task, const Tensor &query, const Exponentials &keys,
                    Exponentials &one, const float *v, const float *grad_score, const Tensor &grad_query,
                    Floats *grad_key, Floats *grad_v) {
    for (int64_t i = task.first; i < task.end; ++i) {
        one.take(query.at(task.batch, task.head, i), 0);
        const float *slope = grad_score + i * s.keys;
        for (int64_t b = 0; b < keys.blocks(); ++b) {
            const Exponential q = one.block(b)[0];
            const Floats one_plus_mu = 1.0f + q.mu;
            const Exponential *k = keys.block(b);
            Floats *to_keys = grad_key + b * s.keys;
            Floats to_query = {}, to_v = {};
            for (int64_t j = 0; j < s.keys; ++j) {
                const Pair x = pair(q, one_plus_mu, k[j].mu, k[j].exponent);
                const Floats weighted = slope[j] * x.reciprocal_of_e_plus_1;
                const Floats part = weighted * x.reciprocal_of_e_plus_1 * x.e;
                to_v += weighted * x.e_minus_1;
                to_query += part;
                to_keys[j] += part;
            }
            Floats weight;
            std::memcpy(&weight, v + b * LANES, sizeof weight);
            to_query *= 4.0f * weight;
            const int64_t width = s.d - b * LANES < LANES ? s.d - b * LANES : LANES;
            std::memcpy(grad_query.at(task.batch, task.head, i) + b * LANES, &to_query, sizeof(float) * width);
            grad_v[b] += to_v;
        }
    }
}

}  // namespace

// All functions: v is [heads, padded d], zeros past d; score and grad_score are dense [batch, heads, queries, keys].
// They return 0, or 1 where memory for the keys' exponentials is missing.

extern "C" int additive_score(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t d, int64_t chunks,
                              int threads, float *query, const int64_t *query_strides, float *key,
                              const int64_t *key_strides, const float *v, float *score) {
    const Sizes s = {batch, heads, queries, keys, d, chunks};
    const Tensor q = {query, query_strides[0], query_strides[1], query_strides[2]};
    const Tensor k = {key, key_strides[0], key_strides[1], key_strides[2]};
    int failed = 0;
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(| : failed)
    {
        Exponentials of_keys(keys, d), of_query(1, d);
        failed = !of_keys.made() || !of_query.made();
#pragma omp for schedule(static)
        for (int64_t number = 0; number < s.tasks(); ++number) {
            if (failed) continue;
            const Task task(s, number);
            of_keys.take(k.at(task.batch, task.head, 0), k.row);
            score_task(s, task, q, of_keys, of_query, v + task.head * s.padded(),
                       score + (task.batch * heads + task.head) * queries * keys);
        }
    }
    return failed;
}

// partial_key [tasks, padded / LANES, keys, LANES] and partial_v [tasks, padded] come in as zeros: each task's sums.
extern "C" int additive_gradients(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t d,
                                  int64_t chunks, int threads, float *query, const int64_t *query_strides, float *key,
                                  const int64_t *key_strides, const float *v, const float *grad_score,
                                  float *grad_query, const int64_t *grad_query_strides, float *grad_key,
                                  const int64_t *grad_key_strides, float *partial_key, float *partial_v) {
    const Sizes s = {batch, heads, queries, keys, d, chunks};
    const Tensor q = {query, query_strides[0], query_strides[1], query_strides[2]};
    const Tensor k = {key, key_strides[0], key_strides[1], key_strides[2]};
    const Tensor to_q = {grad_query, grad_query_strides[0], grad_query_strides[1], grad_query_strides[2]};
    const Tensor to_k = {grad_key, grad_key_strides[0], grad_key_strides[1], grad_key_strides[2]};
    const int64_t padded = s.padded();
    int failed = 0;
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(| : failed)
    {
        Exponentials of_keys(keys, d), of_query(1, d);
        failed = !of_keys.made() || !of_query.made();
#pragma omp for schedule(static)
        for (int64_t number = 0; number < s.tasks(); ++number) {
            if (failed) continue;
            const Task task(s, number);
            of_keys.take(k.at(task.batch, task.head, 0), k.row);
            gradients_task(s, task, q, of_keys, of_query, v + task.head * padded,
                           grad_score + (task.batch * heads + task.head) * queries * keys, to_q,
                           (Floats *)(partial_key + number * padded * keys), (Floats *)(partial_v + number * padded));
        }
        // The chunks of a head, in their order.
#pragma omp for schedule(static)
        for (int64_t head = 0; head < batch * heads; ++head)
            for (int64_t j = 0; j < keys; ++j)
                for (int64_t x = 0; x < d; ++x) {
                    float total = 0;
                    for (int64_t c = 0; c < chunks; ++c)
                        total += partial_key[((head * chunks + c) * padded / LANES + x / LANES) * keys * LANES +
                                             j * LANES + x % LANES];
                    to_k.at(head / heads, head % heads, j)[x] = 4.0f * v[head % heads * padded + x] * total;
                }
    }
    return failed;
}
