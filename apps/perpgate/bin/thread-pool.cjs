/**
 * The size of libuv's thread pool, unless the environment says another: two threads suffice for what the
 * venue gives them, and more would compete with the log and the event loop for the processors.
 *
 * Loaded with `node --require`: libuv reads the variable when the first file is read, which is before the
 * first line of a module. So no shell is needed to set it.
 */

process.env.UV_THREADPOOL_SIZE ??= "2";
