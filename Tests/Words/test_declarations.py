import textwrap
import unittest

from declarations import Declaration, read
from lexer import SwiftSyntaxError, tokens


def declarations(text: str) -> list[Declaration]:
    return read(textwrap.dedent(text)).declarations


def only(text: str) -> Declaration:
    (found,) = declarations(text)
    return found


class LexerTests(unittest.TestCase):
    def words(self, text: str) -> list[str]:
        return [token.text for token in tokens(text) if token.kind == "word"]

    def test_literals_and_comments_hold_no_words(self):
        for text in (
            'a "func b {" c', 'a #"\\(b) " func"# c', 'a """\n func b "quoted" {\n """ c', 'a #"""# c', 'a "x \\( b("}") ) {" c',
            'a "\\(one ? "two" : "\\(three)")" c', "a // func {\n c", "a /* { /* nested */ func */ c",
            "a = /[/{]\\/func/ c", "a #/ func / { /# c", 'a "\\"" c', 'a "\\\\" c', "a ##\"\"# {\"## c",
        ):
            with self.subTest(text):
                self.assertEqual(self.words(text), ["a", "c"])

    def test_a_slash_behind_a_value_divides(self):
        self.assertEqual(self.words("a / b / c"), ["a", "b", "c"])
        self.assertEqual(self.words("(a)/b/c"), ["a", "b", "c"])

    def test_lines_are_counted_through_literals(self):
        self.assertEqual([token.line for token in tokens('"""\n\n"""\na')], [1, 4])

    def test_doc_comments_of_neighbouring_lines_are_one(self):
        text = "/// One\n/// two\n\n/// Three\n//// none\n// none\na\n/** Four\n * five */"
        self.assertEqual([token.text for token in tokens(text) if token.kind == "doc"],
                         ["One\ntwo", "Three", "Four\nfive"])

    def test_what_has_no_end_is_an_error(self):
        for text in ('"a', '"a\n"', "/* a", '"\\(a"', '"""\na', "#/ a"):
            with self.subTest(text), self.assertRaises(SwiftSyntaxError):
                tokens(text)


class DeclarationTests(unittest.TestCase):
    def test_labels(self):
        for signature, labels, run in (
            ("()", [], 0),
            ("(a: Int)", ["a"], 0),
            ("(_ a: Int, to b: Int, c: Int)", [None, "to", "c"], 1),
            ("(_ a: Int, _ b: [String: Int], _ c: (Int, Int))", [None] * 3, 3),
            ("(_ a: Dictionary<Int, String>, b: Int, _ c: Int)", [None, "b", None], 1),
            ("(_ a: @escaping @Sendable (Int, Int) -> Void, _ b: inout Int = 3 < 4 ? 1 : 2, _ c: Int...)", [None] * 3, 3),
            ('(_ a: String = ",", _ b: Array<Set<Int>> = [], for c: () -> (Int) = { 1 })', [None, None, "for"], 2),
            ("(\n  _ a: Int,\n  // _ x: Int,\n  _ b: Int,\n  _ `in`: Int\n)", [None] * 3, 3),
            ("(repeat each a: T, `in` b: Int)", ["repeat", "in"], 0),
        ):
            with self.subTest(signature):
                found = only(f"func f{signature} async throws(E) -> [Int] {{}}")
                self.assertEqual([parameter.label for parameter in found.parameters], labels)
                self.assertEqual(found.unlabelled_run, run)

    def test_generics_and_operators(self):
        self.assertEqual(len(only("func f<A: P<B>, each B>(_ a: A) where A: Q<(B, B)> { }").parameters), 1)
        self.assertEqual(len(only("func < (a: Int, b: Int) -> Bool { a }").parameters), 2)
        self.assertEqual(len(only("func == (_ a: Int, _ b: Int) -> Bool { a }").parameters), 2)
        self.assertEqual(only("func ~=(a: Int, b: Int) {}").name, "~=")
        self.assertEqual(only("func `init`(a: Int) {}").name, "init")

    def test_subscripts_have_labels_only_where_two_names_stand(self):
        _, found = declarations("struct A { subscript(a: Int, at b: Int) -> Int { 1 } }")
        self.assertEqual([parameter.label for parameter in found.parameters], [None, "at"])

    def test_lengths(self):
        text = """
        /// Doc.
        @discardableResult
        static func a(
            _ b: Int
        ) -> String {
            "}"  // }
        }
        func b() { c { } }
        protocol P {
            func d(_ e: Int)
            init(f: Int)
            var g: Int { get }
        }
        """
        found = declarations(text)
        self.assertEqual([(item.name, item.lines) for item in found],
                         [("a", 5), ("b", 1), ("P", None), ("d", None), ("init", None), ("g", None)])

    def test_documentation_and_access(self):
        text = """
        /// A.
        @available(*, deprecated, message: "func")
        package final class A: B {
            /// B.
            package private(set) var b = Self.init(1), c = 2
            package let d: (Int) -> Int = { func inner() {}; return $0 }
            // No doc comment.
            package init(e: Int) { self.init(e) ; let local = 1 }
            /// Of nothing.

            class func f() {}
            nonisolated(unsafe) static var g = 1
            indirect enum H { case open(Int), package }
            /// L.
            package subscript(i: Int) -> Int { get { 1 } set { } }
        }
        package extension E { }
        """
        found = {item.name: item for item in declarations(text)}
        self.assertEqual(set(found), {"A", "b", "d", "inner", "init", "f", "g", "H", "subscript", "E"})
        self.assertEqual({name for name, item in found.items() if item.documented}, {"A", "b", "f", "subscript"})
        self.assertEqual(
            {name for name, item in found.items() if item.access == "package"},
            {"A", "b", "d", "init", "subscript", "E"})

    def test_words_that_are_not_declarations(self):
        text = """
        func a() {
            let open = 1, actor = 2
            open.init(package: 3)
            actor.func2(class: A.self, protocol: B.subscript)
            self.init(x)
            let (private, b) = (open, "\\(actor)")
        }
        """
        self.assertEqual([item.name for item in declarations(text)], ["a"])

    def test_types_within_functions(self):
        text = "func a() { struct B { init(_ c: Int, _ d: Int, _ e: Int) {} }; actor C { func d() {} } }"
        self.assertEqual([item.name for item in declarations(text)], ["a", "B", "init", "C", "d"])
