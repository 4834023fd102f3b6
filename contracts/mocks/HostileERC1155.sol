// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title HostileERC1155
/// @notice A contract of an attacker. It emits batches of transfers that never happened, for little gas.
contract HostileERC1155 {
    /// @dev `keccak256("TransferBatch(address,address,address,uint256[],uint256[])")`.
    bytes32 private constant BATCH = 0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb;

    /// @notice Emits the same batch several times: `count` moves of one copy, of consecutive ids or of the first id.
    function spam(address from, address to, uint256 firstId, uint256 count, uint256 logs, bool repeats) external {
        bytes32 topic = BATCH;
        // In Solidity, encoding the arrays costs as much as the events.
        assembly ("memory-safe") {
            let data := mload(64)
            let size := mul(32, add(count, 1))
            mstore(data, 64)
            mstore(add(data, 32), add(64, size))
            let ids := add(data, 64)
            mstore(ids, count)
            mstore(add(ids, size), count)
            let step := iszero(repeats)
            let id := firstId
            let end := add(ids, size)
            for {
                let place := add(ids, 32)
            } lt(place, end) {
                place := add(place, 32)
            } {
                mstore(place, id)
                mstore(add(place, size), 1)
                id := add(id, step)
            }
            for {
                let i := 0
            } lt(i, logs) {
                i := add(i, 1)
            } {
                log4(data, add(64, mul(2, size)), topic, caller(), from, to)
            }
        }
    }

    function balanceOf(address, uint256) external pure returns (uint256) {
        return 0;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xd9b67a26;
    }
}
