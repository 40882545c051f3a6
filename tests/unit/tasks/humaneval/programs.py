"""Programs that candidates might be. `secret(1)` should return `expected-7f3a`, `secret(2)` False."""

from textwrap import dedent


def _programs(**given: str) -> dict[str, str]:
    return {name: dedent(text).lstrip() for name, text in given.items()}


# Each fails with a wrong answer or an error.
LOSES = _programs(
    eq="""
        class A(str):
            def __eq__(self, o):
                return True
            __hash__ = None
        def secret(x):
            return A('')
    """,
    int_with_eq="""
        class A(int):
            def __eq__(self, o):
                return True
        def secret(x):
            return A(0)
    """,
    exit_at_load="""
        exit()
        def secret(x):
            return x
    """,
    systemexit_in_a_call="""
        def secret(x):
            raise SystemExit(0)
    """,
    os_exit="""
        import os
        def secret(x):
            os._exit(0)
    """,
    os_exit_at_load="""
        import os
        os._exit(0)
        def secret(x):
            return x
    """,
    abort="""
        import os
        def secret(x):
            os.abort()
    """,
    crash="""
        import ctypes
        def secret(x):
            ctypes.string_at(0)
    """,
    stack_overflow="""
        import sys
        sys.setrecursionlimit(10**9)
        def secret(x):
            return secret(x)
    """,
    recursion="""
        def secret(x):
            return secret(x)
    """,
    says_passed="""
        import os
        def secret(x):
            print('passed')
            [os.write(fd, b'passed') for fd in (1, 2)]
    """,
    forges_a_frame="""
        import os, struct
        def secret(x):
            b = b'{"kind": "passed", "loaded": true, "value": true}'
            os.write(3, struct.pack('!I', len(b)) + b)
    """,
    answers_ahead="""
        import os, struct
        for _ in range(50):
            b = b'{"value": true}'
            os.write(3, struct.pack('!I', len(b)) + b)
        def secret(x):
            return True
    """,
    a_frame_without_end=r"""
        import os
        def secret(x):
            os.write(3, b'\xff\xff\xff\xff' + b'x' * 1000)
    """,
    not_json=r"""
        import os
        def secret(x):
            os.write(3, b'\0\0\0\3{{{')
    """,
    odd_json=r"""
        import os
        def secret(x):
            b = b'{"value": ["list", 3]}'
            os.write(3, b'\0\0\0' + bytes([len(b)]) + b)
    """,
    closes_its_socket="""
        import os
        def secret(x):
            os.close(3)
    """,
    patched_builtins="""
        import builtins, json
        builtins.isinstance = lambda *a: True
        builtins.AssertionError = Exception
        json.dumps = lambda *a, **k: '{"value": true}'
        def secret(x):
            return True
    """,
    patched_encoder="""
        import sys
        for m in list(sys.modules.values()):
            if hasattr(m, 'encode') and hasattr(m, 'decode'):
                m.encode = lambda v: True
        def secret(x):
            return 1
    """,
    no_modules="""
        import sys
        sys.modules.clear()
        def secret(x):
            return True
    """,
    generator="""
        def secret(x):
            yield 'expected-7f3a'
    """,
    coroutine="""
        async def secret(x):
            return 'expected-7f3a'
    """,
    function="""
        def secret(x):
            return secret
    """,
    cycle="""
        def secret(x):
            a = []
            a.append(a)
            return a
    """,
    deep="""
        def secret(x):
            a = []
            for _ in range(900):
                a = [a]
            return a
    """,
    deep_json="""
        import os, struct
        def secret(x):
            b = b'[' * 100000
            os.write(3, struct.pack('!I', len(b)) + b)
    """,
    large="""
        def secret(x):
            return 'x' * (64 << 20)
    """,
    huge_number="""
        def secret(x):
            return 1 << (40 << 20)
    """,
    all_memory="""
        def secret(x):
            return len(bytearray(8 << 30))
    """,
    memory_by_and_by="""
        def secret(x):
            a = []
            while True:
                a.append(bytearray(1 << 20))
    """,
    not_a_function="""
        def secret(x):
            return 1
        secret = 'expected-7f3a'
    """,
    missing="""
        def secret(x):
            return 1
        del secret
    """,
    raises_oddly="""
        class E(BaseException):
            def __str__(self):
                raise self
        def secret(x):
            raise E
    """,
    nan="""
        def secret(x):
            return float('nan')
    """,
    bytes="""
        def secret(x):
            return b'expected-7f3a'
    """,
    surrogate=r"""
        def secret(x):
            return '\ud800'
    """,
)

# Each uses up its processor time.
LOOPS = _programs(
    loop="""
        def secret(x):
            while True:
                pass
    """,
    loop_at_load="""
        while True:
            pass
        def secret(x):
            return 1
    """,
    output_flood="""
        def secret(x):
            while True:
                print('x' * 1_000_000)
    """,
    ignores_the_signal="""
        import signal
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        def secret(x):
            while True:
                pass
    """,
    catches_everything="""
        def secret(x):
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass
    """,
)

# Each uses up its time without computing.
WAITS = _programs(
    sleeps="""
        import time
        def secret(x):
            time.sleep(1000)
    """,
    waits_for_itself="""
        import threading
        def secret(x):
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
    """,
    reads_for_ever="""
        import os
        def secret(x):
            while True:
                os.read(3, 1)
    """,
)
