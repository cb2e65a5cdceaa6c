/*
 * clang.cpp - what clang's own offloading puts into a program: compiled twice, with and without
 * MAIN, so that both objects have the entries of the inline function, the templates and the weak
 * variable; and an object on the device with a constructor and a destructor.
 */
template <typename T> static int twice(T *values, int count)
{
#pragma omp target teams distribute parallel for map(tofrom : values[:count])
    for (int i = 0; i < count; i++)
        values[i] *= 2;
    return 0;
}

inline int increment(int *values, int count)
{
#pragma omp target map(tofrom : values[:count])
    for (int i = 0; i < count; i++)
        values[i] += 1;
    return 0;
}

template <typename T> int decrement(T *values, int count)
{
#pragma omp target map(tofrom : values[:count])
    for (int i = 0; i < count; i++)
        values[i] -= 1;
    return 0;
}

#pragma omp declare target
struct counter {
    int value;
    counter() : value(7) {}
    ~counter() { value = 0; }
};
#ifdef MAIN
counter counter;
#endif
__attribute__((weak)) int weak_variable = 5;
#pragma omp end declare target

int elsewhere(int *values);

#ifdef MAIN
int main()
{
    int values[4] = {1, 2, 3, 4};
    twice(values, 4);
    increment(values, 4);
    decrement(values, 4);
    elsewhere(values);
#pragma omp target map(tofrom : values)
    values[0] += counter.value + weak_variable;
    return values[0];
}
#else
int elsewhere(int *values)
{
    return twice(values, 4) + increment(values, 4) + decrement(values, 4);
}
#endif
