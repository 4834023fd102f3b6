// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title LyingCollection
/// @notice A contract that emits any logs and gives any answers, for tests of adoption.
contract LyingCollection {
    bytes4 private immutable _INTERFACE;
    mapping(bytes4 selector => bytes) private _answers;

    /// @param interfaceId the token standard that it says it has.
    constructor(bytes4 interfaceId) {
        _INTERFACE = interfaceId;
    }

    /// @notice Gives the programmed answer to any other function; none is empty.
    fallback(bytes calldata) external returns (bytes memory) {
        return _answers[msg.sig];
    }

    function program(bytes4 selector, bytes calldata answer) external {
        _answers[selector] = answer;
    }

    /// @notice Emits a log with four topics and any data.
    function emitLog(bytes32[4] calldata topics, bytes calldata content) external {
        bytes memory data = content;
        // Solidity has no statement that emits a log without an event.
        assembly ("memory-safe") {
            log4(
                add(data, 32),
                mload(data),
                calldataload(topics),
                calldataload(add(topics, 32)),
                calldataload(add(topics, 64)),
                calldataload(add(topics, 96))
            )
        }
    }

    function supportsInterface(bytes4 id) external view returns (bool) {
        return id == 0x01ffc9a7 || id == _INTERFACE;
    }
}
