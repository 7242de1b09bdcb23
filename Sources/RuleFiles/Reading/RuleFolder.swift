import FoundationEssentials
package import MergeCore

/// The rule files of a folder, as written.
package struct RuleFolder: Sendable {
    /// The readable files.
    package private(set) var files: [RuleFile]
    /// The findings in the files.
    package let findings: Findings

    /// Reads every `*.yaml` file of a folder, by name.
    package init(path: String) {
        var findings = Findings()
        var files: [RuleFile] = []
        let folder = Place(file: path, line: 1, column: 1)
        do {
            let all = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }.sorted()
            let names = all.filter { $0.hasSuffix(".yaml") }
            if names.isEmpty { findings.error(folder, "the folder contains no rule file (*.yaml)") }
            for name in all where name.lowercased().hasSuffix(".yml") || name.hasSuffix(".YAML") {
                let file = path.hasSuffix("/") ? path + name : path + "/" + name
                findings.warning(
                    Place(file: file, line: 1, column: 1), "the file is not read: rule files end in .yaml")
            }
            for name in names {
                let file = path.hasSuffix("/") ? path + name : path + "/" + name
                let data = try Data(contentsOf: URL(filePath: file))
                Self.read(data, named: file, into: &files, findings: &findings)
            }
        } catch {
            findings.error(folder, "the folder, or a file in it, cannot be read")
        }
        Self.refuseTwins(files, findings: &findings)
        self.files = files
        self.findings = findings
    }

    /// Reads rule files from texts, such as those of a request.
    package init(texts: [(file: String, text: String)]) {
        var findings = Findings()
        var files: [RuleFile] = []
        for (file, text) in texts { Self.read(Data(text.utf8), named: file, into: &files, findings: &findings) }
        Self.refuseTwins(files, findings: &findings)
        self.files = files
        self.findings = findings
    }

    /// Returns the rules with the names that the tables have in the database.
    ///
    /// So a table has one name in all resources, however their files spell it.
    package func resolved(by names: [TableName: TableName]) -> RuleFolder {
        var folder = self
        folder.files = files.map { $0.resolved(by: names) }
        return folder
    }

    private static func read(_ data: Data, named file: String, into files: inout [RuleFile], findings: inout Findings) {
        guard let text = String(validating: data, as: UTF8.self) else {
            findings.error(Place(file: file, line: 1, column: 1), "the file is not UTF-8")
            return
        }
        var reader = RuleFileReader(file: file)
        let read = reader.read(text)
        if let read { files.append(read) }
        for finding in reader.findings.all + (read.map { NameCheck($0).findings.all } ?? []) {
            findings.append(finding)
        }
    }

    /// The location of the first access rules, or nil if there are none.
    package var accessPlace: Place? { files.lazy.compactMap { $0.access?.place }.first }

    /// Every piece of the operator's SQL, for a check by the database.
    package var operatorSQL: [OperatorSQL] {
        files.flatMap { file in
            file.sections.flatMap { section in
                section.operatorSQL.map { what, sql in
                    OperatorSQL(resource: file.resource.value, section: section.name.value, what: what, sql: sql)
                }
            }
        }
    }

    /// Every constant that a write may put into a column.
    package var writtenConstants: [WrittenConstant] {
        files.flatMap { file in
            file.sections.flatMap { section in
                section.writtenConstants.map { column, constant in
                    WrittenConstant(
                        constant, column: column, section: section.name.value, resource: file.resource.value)
                }
            }
        }
    }

    /// Returns the location of a section's table name, or nil if no file has the section.
    package func place(ofSection section: String, in resource: String) -> Place? {
        files.lazy.filter { $0.resource.value == resource }.flatMap(\.sections).first { $0.name.value == section }
            .map { $0.table?.place ?? $0.name.place }
    }

    private static func refuseTwins(_ files: [RuleFile], findings: inout Findings) {
        var seen: [String: Place] = [:]
        for file in files {
            if let first = seen[file.resource.value] {
                findings.error(
                    file.resource.place, "the resource “\(file.resource.value)” is already in \(first.file)")
            } else {
                seen[file.resource.value] = file.resource.place
            }
        }
    }
}
