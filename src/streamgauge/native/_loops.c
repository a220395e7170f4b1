/* The compiled loops, as one module. None holds the interpreter's lock while it runs. */
#include "loops.h"

#define INTERFACE 6 /* one more whenever Python has to call this otherwise */

static PyMethodDef methods[] = {
    {"batch", batch_new, METH_VARARGS, "Memory for `take`; one a queue."},
    {"take", batch_take, METH_VARARGS, "What is there, in columns; wait for the first record as long as timeout_ms."},
    {"rows", rows_new, METH_VARARGS, "What `take_rows` needs; one a queue."},
    {"take_rows", rows_take, METH_VARARGS, "What is there, identified, into columns that are given."},
    {"sender", sender_new, METH_VARARGS, "One producer's messages, and the client that they go to."},
    {"send", sender_send, METH_VARARGS, "Send messages when they are due, into columns that are given."},
    {"send_one", sender_send_one, METH_VARARGS, "Send a message that is ready."},
    {"poll", sender_poll, METH_VARARGS, "Look for what became of messages."},
    {"told", sender_told, METH_VARARGS, "How much was found."},
    {"counts", sender_counts, METH_VARARGS, "Messages taken, known of, and not told of yet."},
    {"close", sender_close, METH_VARARGS, "Let go of a sender."},
    {"pacer", pacer_new, METH_VARARGS, "A thread that only sleeps until the next is due."},
    {"pacer_stop", pacer_stop, METH_VARARGS, "End it; how late it was each time."},
    {"message", message_of, METH_VARARGS, "One message: its header, and its body behind it."},
    {"identify", identified, METH_VARARGS, "Whose one message is, and whether it is whole."},
    {"checksum", checksum_of, METH_VARARGS, "Of one message, by header and body."},
#ifdef __linux__ /* epoll, and sockets that raise no signal */
    {"broadcast", broadcast, METH_VARARGS, "The same bytes to many sockets; who did not take all of it."},
    {"swarm", swarm_new, METH_VARARGS, "Places for sessions, and where their updates are counted."},
    {"swarm_add", swarm_add, METH_VARARGS, "Read a connection from now on."},
    {"swarm_drop", swarm_drop, METH_VARARGS, "Read a connection no more."},
    {"swarm_serve", swarm_serve, METH_VARARGS, "Take what comes: into rows that are given, or told."},
    {"swarm_fd", swarm_fd, METH_VARARGS, "Readable when there is something to serve."},
    {"swarm_close", swarm_close, METH_VARARGS, "Read nothing any more."},
#endif
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_loops", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__loops(void)
{
    make_weights();
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddIntConstant(made, "INTERFACE", INTERFACE) < 0)
        Py_CLEAR(made);
    return made;
}
