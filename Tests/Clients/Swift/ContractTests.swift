import Testing

@testable import FieldMergeClient

/// The problems of the contract, each with the action of a client.
@Suite struct ContractTests {
    private static func codes(_ action: String) -> Set<String> {
        let problems = SharedCases.read("contract.json")["problems"].arrayValue ?? []
        return Set(problems.filter { $0["client"] == .string(action) }.compactMap { $0["code"].stringValue })
    }

    @Test("Problems of the request refuse no push") func waiting() {
        #expect(FieldMergeStore.notAboutThePush == Self.codes("wait"))
    }

    @Test("The codes that a push is sent again after are those of the contract") func sendingAgain() {
        let codes = Set(PushVerdict.retryCodes.compactMap(\.stringValue))
        #expect(!codes.isEmpty && codes.isSubset(of: Self.codes("send-again")))
    }
}
